// The inputs that fuzzing has kept, and the corpus, through the fuzzers' checks, under the compiler at hand.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../../fuzz/cron_input.hpp"
#include "../../fuzz/instant_input.hpp"
#include "schedule/corpus.hpp"

namespace looptask::schedule {
namespace {

template <class Check>
std::size_t replay(const std::string& target, Check check) {
  std::size_t inputs = 0;
  for (const auto& file : std::filesystem::directory_iterator(tests::source_dir() + "/fuzz/corpus/" + target)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    SCOPED_TRACE(file.path().string());
    check(std::span(bytes));
    ++inputs;
  }
  return inputs;
}

TEST(fuzz_corpus, cron) { EXPECT_GT(replay("cron", fuzz::read_cron), 20U); }

TEST(fuzz_corpus, instant) { EXPECT_GT(replay("instant", fuzz::read_instant), 5U); }

TEST(fuzz_corpus, every_expression_of_the_cron_corpus_keeps_the_promises) {
  for (const char* file : {"next.jsonl", "invalid.jsonl", "warn.jsonl"}) {
    for (const auto& line : cron_corpus(file)) {
      for (std::uint8_t zone = 0; zone < 5; ++zone) {
        std::vector<std::uint8_t> bytes{zone, static_cast<std::uint8_t>(zone * 50), 0x11, 0x22, 0x15};
        const std::string text = line["expr"];
        bytes.insert(bytes.end(), text.begin(), text.end());
        fuzz::read_cron(bytes);
      }
    }
  }
}

}  // namespace
}  // namespace looptask::schedule
