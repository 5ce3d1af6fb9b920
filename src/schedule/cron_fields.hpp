#pragma once
// The parsed meaning of a cron expression: sets of values as bit masks, and which days of a month they pick. Plain values; any
// thread; nothing allocates once parsed.
//
// Invariants: second, minute, hour and month hold at least one value of their range. A day field that is free has no meaning
// of its own; one that is not free holds at least one element, whether or not any month has such a day.
#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/civil.hpp"

namespace looptask::schedule {

inline constexpr int first_year = 1970, last_year = 9999;

// The year field, kept apart because hardly any expression has one.
struct cron_years {
  struct range {
    int first, last, step;
    bool operator==(const range&) const = default;
  };
  std::vector<range> ranges;  // as written, for printing
  std::bitset<last_year - first_year + 1> set;
};

struct cron_fields {
  std::uint64_t seconds = 1;  // bit n: second n
  std::uint64_t minutes = 0;
  std::uint32_t hours = 0;
  std::uint32_t months = 0;                 // bit n: month n
  std::uint32_t days = 0;                   // bit n: day n of the month
  std::uint32_t before_last = 0;            // bit n: n days before the last one (`L` is n = 0)
  std::uint32_t nearest_weekdays = 0;       // bit n: the weekday nearest to day n (`nW`)
  std::uint64_t nth_weekdays = 0;           // bit 7 * (k - 1) + d: the k-th weekday d of the month (`d#k`)
  std::uint8_t weekdays = 0;                // bit d: weekday d, 0 is Sunday
  std::uint8_t last_weekdays = 0;           // bit d: the last weekday d of the month (`dL`)
  bool last_working_day = false;            // `LW`
  bool days_free = false;                   // day of month is exactly `*` or `?`
  bool weekdays_free = false;               // the same of day of week
  bool minute_star = false;                 // the field's text begins with `*`: decides between wildcard and fixed-time jobs
  bool hour_star = false;                   //
  std::shared_ptr<const cron_years> years;  // absent: any year

  bool any_year() const noexcept { return years == nullptr; }
  bool wildcard() const noexcept { return minute_star || hour_star; }
  bool operator==(const cron_fields& other) const noexcept;

  // The matching days of a month as bits 1 to 31; `first` is the day number (days_of) of its first day.
  std::uint32_t days_in(std::int64_t year, int month, std::int64_t first) const noexcept;
  // Year and month match, the day is picked, and so is the time of day.
  bool matches(std::int64_t wall) const noexcept;
  // The first matching wall time not before `from`; `no_wall` if there is none. Looks at 400 years at most, and at years 1970
  // to 9999 only.
  std::int64_t first_match(std::int64_t from) const noexcept;
  static constexpr std::int64_t no_wall = days_of(last_year + 1, 1, 1) * seconds_per_day;
  // How many wall times match in [from, to). One step for each month of the range at most.
  std::uint64_t count_matches(std::int64_t from, std::int64_t to) const noexcept;

 private:
  std::uint64_t times_before(std::int64_t second_of_day) const noexcept;
  std::int64_t time_from(std::int64_t second_of_day) const noexcept;
  bool year_matches(std::int64_t year) const noexcept;
};

}  // namespace looptask::schedule
