#pragma once
// Durations as people write them in configuration and on the command line: "1h30m", "250ms", "2w". Pure; any thread.
//
// Integers with units, largest first, each unit once: w d h m s ms us. `d` is 24 h and `w` is 168 h of elapsed time. No bare
// numbers, fractions, signs or blanks. At most 36500d, so that sums of a few of them fit everywhere.
//
//   parse_duration("1h30m").value()  ->  5400 s          print_duration(90s)  ->  "1m30s"
#include <string>
#include <string_view>

#include <looptask/result.hpp>
#include <looptask/time.hpp>

namespace looptask::service {

constexpr microseconds longest_duration = std::chrono::hours(24 * 36500);

// The message quotes `text` and says what would be right.
result<microseconds> parse_duration(std::string_view text);

// The shortest text that parse_duration reads as `value`; "0s" for none. `value` is not negative.
std::string print_duration(microseconds value);

}  // namespace looptask::service
