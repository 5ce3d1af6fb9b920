#pragma once
// Where the sources and the build are, for tests that read data files or start programs. Functions, not macros on the
// command line: the objects of the tests are the same in every clone, so the compiler cache serves all of them.
//
//   std::ifstream corpus(tests::source_dir() + "/tests/corpus/cron/next.jsonl");
#include <string>

namespace looptask::tests {

std::string source_dir();  // absolute, without a slash at the end
std::string binary_dir();  // holds the program `looptask`

}  // namespace looptask::tests
