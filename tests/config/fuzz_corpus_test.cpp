// The inputs that fuzzing has kept, and the examples, through the fuzzers' checks, under the compiler at hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <source_tree.hpp>

#include "../../fuzz/configuration_input.hpp"

namespace looptask::service {
namespace {

template <class Check>
std::size_t replay(const std::string& folder, Check check) {
  std::size_t inputs = 0;
  for (const auto& file : std::filesystem::directory_iterator(tests::source_dir() + folder)) {
    if (!file.is_regular_file()) continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    SCOPED_TRACE(file.path().string());
    check(std::span(bytes));
    ++inputs;
  }
  return inputs;
}

TEST(fuzz_corpus, configuration) { EXPECT_GT(replay("/fuzz/corpus/configuration", fuzz::read_configuration), 5U); }

TEST(fuzz_corpus, duration) { EXPECT_GT(replay("/fuzz/corpus/duration", fuzz::read_duration), 5U); }

TEST(fuzz_corpus, examples) { EXPECT_GT(replay("/examples", fuzz::read_configuration), 0U); }

}  // namespace
}  // namespace looptask::service
