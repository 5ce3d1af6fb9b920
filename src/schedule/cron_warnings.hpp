#pragma once
// What a valid cron expression does that its author may not have meant. Pure; any thread; a few microseconds.
//
//   for (cron_warning w : warnings_of(expression, berlin, now)) print(name_of(w), explanation_of(w));
#include <cstdint>
#include <string_view>
#include <vector>

#include "schedule/cron.hpp"

namespace looptask::schedule {

enum class cron_warning : std::uint8_t {
  never,        // no fire time after the given instant
  no_times,     // @reboot
  rare,         // more than a year between two fire times, and no year field asks for it
  short_month,  // a day that some of the months do not have
  day_or,       // both day fields restricted: either is enough
  day_step,     // the same with a `*/n`, which other daemons read as both
  uneven,       // `*/n` where n does not divide the field: the last gap is shorter
  big_step,     // a step that leaves one value only
  often,        // every second, or every minute of a single hour
  wrap,         // a range over the end of its field, which many parsers refuse
  dst_gap,      // within ten years the clock jumps over one of its times
  dst_fold,     // within ten years the clock shows one of its times twice
};

std::string_view name_of(cron_warning what) noexcept;         // "dst-gap"
std::string_view explanation_of(cron_warning what) noexcept;  // one sentence, with the remedy where there is one

// In the order of the enumeration, each at most once. Without fire times nothing else is said.
std::vector<cron_warning> warnings_of(const cron_expression& expression, const zone& where, instant from);

}  // namespace looptask::schedule
