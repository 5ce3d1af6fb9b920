#pragma once
// Names of signals and error numbers for people. Pure, any thread.
//
//   signal_name(11) == "SIGSEGV"
//   error_text(2) == "No such file or directory (ENOENT)"
#include <string>

namespace looptask::jobs {

std::string signal_name(int number);  // "signal 99" if it has no name
std::string error_text(int number);

}  // namespace looptask::jobs
