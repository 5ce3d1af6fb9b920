#include "schedule/cron_warnings.hpp"

#include "schedule/corpus.hpp"

namespace looptask::schedule {
namespace {

std::vector<std::string> names(std::string_view expression, const std::string& zone_name, std::string_view from) {
  std::vector<std::string> found;
  for (const cron_warning w : warnings_of(cron(expression), zone_named(zone_name), at(from))) {
    EXPECT_NE(explanation_of(w), "");
    found.emplace_back(name_of(w));
  }
  return found;
}

using list = std::vector<std::string>;
constexpr const char* now = "2026-01-01T00:00:00Z";

TEST(cron_warnings, are_of_the_class_the_corpus_names) {
  for (const auto& line : cron_corpus("warn.jsonl")) {
    const list found = names(line["expr"].get<std::string>(), line["tz"], now);
    const std::string expected = line["warn"];
    if (expected == "none") {
      EXPECT_EQ(found, list{}) << line.dump();
    } else {
      EXPECT_TRUE(std::find(found.begin(), found.end(), expected) != found.end())
          << line.dump() << testing::PrintToString(found);
    }
  }
}

TEST(cron_warnings, say_nothing_about_ordinary_expressions) {
  for (const char* text : {"* * * * *", "*/5 * * * *", "0 * * * *", "30 9 * * MON-FRI", "0 12 1 * *", "0 12 L * *",
                           "*/15 9-17 * * *", "0 0 12 1 1 ? 2027-2030", "0 12 1,15,31 * *", "@hourly", "@every 5m", "@daily",
                           "*/10 * * * * *", "0 12 * * 5-7", "0 * 12 * * *"}) {
    EXPECT_EQ(names(text, "America/New_York", now), list{}) << text;
  }
}

TEST(cron_warnings, tell_all_that_apply_in_one_order) {
  EXPECT_EQ(names("30 2 * * *", "Europe/Berlin", now), (list{"dst-gap", "dst-fold"}));
  EXPECT_EQ(names("*/25 2 */3 * 1", "America/New_York", now), (list{"day-step", "uneven", "dst-gap"}));
  EXPECT_EQ(names("30 2 1 1 *", "Europe/Berlin", now), list{});
  EXPECT_EQ(names("0 0 0 1 1 * 2025", "UTC", now), list{"never"});
}

}  // namespace
}  // namespace looptask::schedule
