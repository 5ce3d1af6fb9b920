#pragma once
// Instants as RFC 3339 text in UTC, years 0000 to 9999. Pure functions, any thread.
//
//   parse_instant("2026-03-29T01:00:00.25Z").value()
//   instant_text(at, fraction::milliseconds) == "2026-03-29T01:00:00.250Z"
#include <cstdint>
#include <string>
#include <string_view>

#include <looptask/result.hpp>
#include <looptask/time.hpp>

namespace looptask::schedule {

// "2026-03-29T01:00:00Z", a fraction of any length (cut after microseconds), `z` and `t` in lower case, or an offset such as
// +02:00. The date must exist; the second 60 does not. Anything else is an error that says so.
result<instant> parse_instant(std::string_view text);

enum class fraction : std::uint8_t {
  none,
  milliseconds,        // always three digits
  milliseconds_if_any  // three digits, or none where they would be 000
};

// Cut to the fraction, towards the past. Outside the years 0000 to 9999 the year has more digits or a sign.
std::string instant_text(instant when, fraction digits);

}  // namespace looptask::schedule
