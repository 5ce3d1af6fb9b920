// The agreed answers: every line of the corpus, exactly.
#include "schedule/corpus.hpp"

namespace looptask::schedule {
namespace {

TEST(cron_corpus, gives_the_agreed_fire_times) {
  const auto lines = cron_corpus("next.jsonl");
  ASSERT_EQ(lines.size(), 1'911U);
  for (const auto& line : lines) {
    const auto parsed = cron_expression::parse(line["expr"].get<std::string>());
    ASSERT_TRUE(static_cast<bool>(parsed)) << line.dump() << parsed.message();
    EXPECT_EQ(fires(parsed.value(), zone_named(line["tz"]), at(line["start"].get<std::string>()), 5),
              line["next"].get<std::vector<std::string>>())
        << line.dump();
  }
}

TEST(cron_corpus, refuses_what_is_no_expression_and_says_where) {
  const auto lines = cron_corpus("invalid.jsonl");
  ASSERT_GT(lines.size(), 90U);
  for (const auto& line : lines) {
    const auto parsed = cron_expression::parse(line["expr"].get<std::string>());
    EXPECT_FALSE(static_cast<bool>(parsed)) << line.dump();
    if (!parsed) {
      EXPECT_EQ(parsed.message().rfind("column ", 0), 0U) << line.dump() << ": " << parsed.message();
      EXPECT_EQ(parsed.message().find('\n'), std::string::npos) << parsed.message();
    }
  }
}

TEST(cron_corpus, accepts_what_a_user_is_only_warned_about) {
  const auto lines = cron_corpus("warn.jsonl");
  ASSERT_GT(lines.size(), 30U);
  for (const auto& line : lines) cron(line["expr"].get<std::string>());
}

TEST(cron_corpus, prints_each_expression_so_that_it_reads_back_as_the_same) {
  for (const char* file : {"next.jsonl", "warn.jsonl"}) {
    for (const auto& line : cron_corpus(file)) {
      const cron_expression first = cron(line["expr"].get<std::string>());
      const std::string text = first.to_string();
      EXPECT_TRUE(cron(text) == first) << line["expr"] << " printed as " << text;
      EXPECT_EQ(cron(text).to_string(), text);
    }
  }
}

}  // namespace
}  // namespace looptask::schedule
