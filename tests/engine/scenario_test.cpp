// Every scenario of tests/corpus/loop that this version's policies cover, through the real engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "cli/scenario.hpp"
#include "source_tree.hpp"

namespace looptask::cli {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(tests::source_dir() + "/tests/corpus/loop")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".json")) continue;
    const bool later = name.starts_with("misfire-all") || name.starts_with("overlap-allow") ||
                       name.starts_with("overlap-cancel") || name.starts_with("overlap-queue-all");
    if (!later) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, RunsAndDropsAreExactlyAsExpected) {
  const std::string text = read(GetParam());
  const result<scenario> wanted = read_scenario(text);
  ASSERT_TRUE(wanted) << wanted.message();
  const auto actual = nlohmann::json::parse(to_json(wanted.value(), run_scenario(wanted.value())));
  const auto expected = nlohmann::json::parse(text)["expect"];
  EXPECT_EQ(actual["runs"].dump(1), expected["runs"].dump(1));
  EXPECT_EQ(actual["dropped"].dump(1), expected["dropped"].dump(1));
}

INSTANTIATE_TEST_SUITE_P(Loop, Corpus, testing::ValuesIn(corpus()), [](const auto& each) {
  std::string name = std::filesystem::path(each.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Corpus, IsThere) { EXPECT_GE(corpus().size(), 35U); }

TEST(ScenarioReader, NamesWhatIsWrong) {
  struct row {
    const char *text, *message;
  };
  const row rows[] = {
      {"{", "no valid JSON"},
      {R"({"id":"x","job":{"mode":"end","interval":5},"work":[{"ms":1,"ok":true}],"until":9,"colour":1})",
       "unknown key \"colour\""},
      {R"({"id":"x","job":{"mode":"end","interval":0},"work":[{"ms":1,"ok":true}],"until":9})", "job.interval"},
      {R"({"id":"x","job":{"mode":"ends","interval":5},"work":[{"ms":1,"ok":true}],"until":9})", "none of end, start"},
      {R"({"id":"x","job":{"mode":"end","interval":5},"work":[],"until":9})", "work"},
      {R"({"id":"x","job":{"mode":"end","interval":5},"work":[{"ms":1,"ok":true}]})", "\"until\" is missing"},
      {R"({"id":"x","job":{"mode":"cron","expr":"* * * *"},"work":[{"ms":1,"ok":true}],"until":9})", "job.expr"},
      {R"({"id":"x","job":{"mode":"cron","expr":"* * * * *"},"work":[{"ms":1,"ok":true}],"until":9})", "\"wall0\" is missing"},
      {R"({"id":"x","job":{"mode":"fixed_rate","interval":5,"misfire":"run_all"},"work":[{"ms":1,"ok":true}],"until":9})",
       "not in this version yet"},
      {R"({"id":"x","job":{"mode":"end","interval":5},"work":[{"ms":1,"ok":true}],"events":[{"at":5,"down_until":5}],"until":9})",
       "ends later"},
  };
  for (const row& r : rows) {
    const result<scenario> read = read_scenario(r.text);
    ASSERT_FALSE(read) << r.text;
    EXPECT_NE(read.message().find(r.message), std::string::npos) << read.message();
  }
}

}  // namespace
}  // namespace looptask::cli
