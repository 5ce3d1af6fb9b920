#include "cli/instant_argument.hpp"

#include <gtest/gtest.h>

#include "schedule/instant_text.hpp"

namespace looptask::cli {
namespace {

using schedule::fraction;
using schedule::instant_text;

const instant now = schedule::parse_instant("2026-03-28T12:00:00.5Z").value();

std::string read(std::string_view text, const std::string& zone) {
  const auto found = parse_instant_argument(text, now, schedule::zone::load(zone).value());
  return found ? instant_text(found.value(), fraction::milliseconds_if_any) : "error: " + found.message();
}

TEST(instant_argument, counts_from_now) {
  EXPECT_EQ(read("now", "UTC"), "2026-03-28T12:00:00.500Z");
  EXPECT_EQ(read("+2d", "UTC"), "2026-03-30T12:00:00.500Z");
  EXPECT_EQ(read("-1h30m", "UTC"), "2026-03-28T10:30:00.500Z");
}

TEST(instant_argument, takes_rfc_3339) {
  EXPECT_EQ(read("2026-07-01T00:00:00Z", "Europe/Berlin"), "2026-07-01T00:00:00Z");
  EXPECT_EQ(read("2026-07-01T00:00:00+05:30", "Europe/Berlin"), "2026-06-30T18:30:00Z");
}

TEST(instant_argument, without_an_offset_means_the_clock_of_the_zone) {
  EXPECT_EQ(read("2026-07-01T12:00:00.25", "Europe/Berlin"), "2026-07-01T10:00:00.250Z");
  EXPECT_EQ(read("2026-07-01", "Europe/Berlin"), "2026-06-30T22:00:00Z");
  EXPECT_EQ(read("2026-03-29 02:30:00", "Europe/Berlin"), "2026-03-29T01:00:00Z");  // missing: the end of the jump
  EXPECT_EQ(read("2026-10-25 02:30:00", "Europe/Berlin"), "2026-10-25T00:30:00Z");  // repeated: the first
}

TEST(instant_argument, says_what_would_be_right) {
  EXPECT_EQ(read("tomorrow", "UTC"),
            "error: \"tomorrow\" is no instant; right would be now, -1h, +2d, 2026-03-29, 2026-03-29T01:00:00 or "
            "2026-03-29T01:00:00Z");
  for (const char* text : {"", "+", "-", "+5", "2026-02-30", "12:00", "2026-07-01T12", "Z"}) {
    EXPECT_EQ(read(text, "UTC").rfind("error: ", 0), 0U) << text;
  }
}

}  // namespace
}  // namespace looptask::cli
