#include "schedule/instant_text.hpp"

#include <gtest/gtest.h>

namespace looptask::schedule {
namespace {

TEST(instant_text, reads_what_it_writes) {
  for (const char* text : {"1970-01-01T00:00:00Z", "2026-03-29T01:00:00Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z",
                           "1969-12-31T23:59:59Z", "2024-02-29T12:34:56Z"}) {
    EXPECT_EQ(instant_text(parse_instant(text).value(), fraction::none), text);
  }
}

TEST(instant_text, keeps_microseconds_and_cuts_the_rest) {
  EXPECT_EQ(parse_instant("1970-01-01T00:00:00.1234567891234Z").value().time_since_epoch(), microseconds(123'456));
  EXPECT_EQ(parse_instant("1970-01-01T00:00:00.5Z").value().time_since_epoch(), microseconds(500'000));
  EXPECT_EQ(parse_instant("1969-12-31T23:59:59.25Z").value().time_since_epoch(), microseconds(-750'000));
}

TEST(instant_text, takes_offsets_and_lower_case) {
  EXPECT_EQ(parse_instant("2026-03-29T03:00:00+02:00").value(), parse_instant("2026-03-29t01:00:00z").value());
  EXPECT_EQ(parse_instant("2026-03-28T20:30:00-04:30").value(), parse_instant("2026-03-29 01:00:00Z").value());
}

TEST(instant_text, writes_as_many_digits_as_asked) {
  const instant when = parse_instant("2026-03-29T01:00:00.25Z").value();
  EXPECT_EQ(instant_text(when, fraction::none), "2026-03-29T01:00:00Z");
  EXPECT_EQ(instant_text(when, fraction::milliseconds), "2026-03-29T01:00:00.250Z");
  EXPECT_EQ(instant_text(when, fraction::milliseconds_if_any), "2026-03-29T01:00:00.250Z");
  EXPECT_EQ(instant_text(instant{}, fraction::milliseconds), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(instant_text(instant{}, fraction::milliseconds_if_any), "1970-01-01T00:00:00Z");
  EXPECT_EQ(instant_text(instant{} - microseconds(1), fraction::milliseconds), "1969-12-31T23:59:59.999Z");
}

TEST(instant_text, refuses_everything_else_in_one_line) {
  for (const char* text : {"",
                           "now",
                           "2026-03-29",
                           "2026-03-29T01:00:00",
                           "2026-03-29T01:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:60Z",
                           "2026-01-01T00:00:00.Z",
                           "2026-01-01T00:00:00+25:00",
                           "2026-01-01T00:00:00+0200",
                           "2026-1-01T00:00:00Z",
                           "-026-01-01T00:00:00Z",
                           "2026-01-01T00:00:00ZZ",
                           "2026-01-01T00:00:00.5",
                           "+12026-01-01T00:00:00Z",
                           "2026-01-01T00:00:00\nZ"}) {
    const auto parsed = parse_instant(text);
    ASSERT_FALSE(static_cast<bool>(parsed)) << text;
    EXPECT_NE(parsed.message().find("is no instant"), std::string::npos) << parsed.message();
    EXPECT_EQ(parsed.message().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace looptask::schedule
