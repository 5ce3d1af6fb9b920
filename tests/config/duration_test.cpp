#include "service/duration.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <utility>

namespace looptask::service {
namespace {

using namespace std::chrono_literals;

TEST(duration, reads_units_largest_first) {
  const std::pair<const char*, microseconds> table[] = {
      {"1us", 1us},     {"250ms", 250ms},
      {"30s", 30s},     {"5m", 5min},
      {"1h30m", 90min}, {"1d", 24h},
      {"2w", 14 * 24h}, {"1w1d1h1m1s1ms1us", 193h + 1min + 1s + 1ms + 1us},
      {"90s", 90s},     {"36500d", 36500 * 24h},
      {"0s", 0s},       {"007s", 7s},
  };
  for (const auto& [text, value] : table) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.message();
    EXPECT_EQ(parsed.value(), value) << text;
  }
}

TEST(duration, refuses_everything_else_and_says_why) {
  const std::pair<const char*, const char*> table[] = {
      {"", "it is empty"},
      {"5", "a number needs a unit"},
      {"s", "a whole number must stand before each unit"},
      {"-5s", "a whole number must stand before each unit"},
      {"+5s", "a whole number must stand before each unit"},
      {" 5s", "a whole number must stand before each unit"},
      {"5s ", "a whole number must stand before each unit"},
      {"5 s", "only whole numbers and units may stand in it"},
      {"1.5h", "only whole numbers and units may stand in it"},
      {"5m1h", "units stand once each, the largest first"},
      {"5m5m", "units stand once each, the largest first"},
      {"5sec", "the units are w, d, h, m, s, ms and us, not \"sec\""},
      {"5S", "the units are w, d, h, m, s, ms and us, not \"S\""},
      {"1y", "the units are w, d, h, m, s, ms and us, not \"y\""},
      {"36500d1us", "it is longer than 36500d"},
      {"99999999999999999999999999s", "it is longer than 36500d"},
      {"9223372036854775807us", "it is longer than 36500d"},
  };
  for (const auto& [text, why] : table) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.message().find(std::string(": ") + why + "; write for example"), std::string::npos) << parsed.message();
  }
}

TEST(duration, prints_the_largest_units_first) {
  EXPECT_EQ(print_duration(0us), "0s");
  EXPECT_EQ(print_duration(90s), "1m30s");
  EXPECT_EQ(print_duration(36h), "1d12h");
  EXPECT_EQ(print_duration(1500us), "1ms500us");
}

TEST(duration, what_is_printed_reads_as_the_same) {
  rc::check([] {
    const microseconds value(*rc::gen::inRange<std::int64_t>(0, longest_duration.count() + 1));
    const auto parsed = parse_duration(print_duration(value));
    RC_ASSERT(bool(parsed));
    RC_ASSERT(parsed.value() == value);
  });
}

TEST(duration, any_text_is_read_or_refused_in_one_line) {
  rc::check([](const std::string& text) {
    const auto parsed = parse_duration(text);
    if (parsed)
      RC_ASSERT(parsed.value() <= longest_duration);
    else
      RC_ASSERT(parsed.message().find('\n') == std::string::npos);
  });
}

}  // namespace
}  // namespace looptask::service
