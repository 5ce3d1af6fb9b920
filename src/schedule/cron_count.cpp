// How many fire times a range of time holds, by arithmetic.
#include <algorithm>
#include <bit>
#include <chrono>

#include "schedule/cron.hpp"

namespace looptask::schedule {

namespace {

constexpr std::uint64_t below(std::uint64_t mask, int bit) { return mask & ((std::uint64_t{1} << bit) - 1); }

std::uint64_t count(std::uint64_t mask) { return static_cast<std::uint64_t>(std::popcount(mask)); }

}  // namespace

// How many matching times of day lie before `second_of_day` (0 to 86,400).
std::uint64_t cron_fields::times_before(std::int64_t second_of_day) const noexcept {
  const int second = static_cast<int>(second_of_day % 60), minute = static_cast<int>(second_of_day / 60 % 60);
  const int hour = static_cast<int>(second_of_day / 3'600);
  std::uint64_t times = count(below(hours, hour)) * count(minutes) * count(seconds);
  if ((hours >> hour & 1U) != 0) {
    times += count(below(minutes, minute)) * count(seconds);
    if ((minutes >> minute & 1U) != 0) times += count(below(seconds, second));
  }
  return times;
}

std::uint64_t cron_fields::count_matches(std::int64_t from, std::int64_t to) const noexcept {
  from = std::max<std::int64_t>(from, 0);
  to = std::min(to, no_wall);
  if (from >= to) return 0;
  const std::uint64_t per_day = times_before(seconds_per_day);
  const std::int64_t first_day = from / seconds_per_day, end_day = to / seconds_per_day;
  const civil_date begin = date_of(first_day), end = date_of(end_day);

  // Whole days before the day `to` lies in, from the first of `begin`'s month on.
  std::uint64_t days_counted = 0;
  std::uint64_t too_many = 0;  // in `begin`'s month, before the day `from` lies in
  bool first_matches = false, end_matches = false;
  std::int64_t year = begin.year;
  int month = begin.month;
  while (year < end.year || (year == end.year && month <= end.month)) {
    if (!year_matches(year) || months >> month == 0) {
      ++year, month = 1;
      continue;
    }
    if ((months >> month & 1U) != 0) {
      const std::uint64_t picked = days_in(year, month, days_of(year, month, 1));
      const bool at_begin = year == begin.year && month == begin.month, at_end = year == end.year && month == end.month;
      if (at_begin) too_many = count(below(picked, begin.day)), first_matches = (picked >> begin.day & 1U) != 0;
      if (at_end) end_matches = (picked >> end.day & 1U) != 0;
      days_counted += count(at_end ? below(picked, end.day) : picked);
    }
    if (++month > 12) ++year, month = 1;
  }
  std::uint64_t matches = (days_counted - too_many) * per_day;
  if (end_matches) matches += times_before(to % seconds_per_day);
  if (first_matches) matches -= times_before(from % seconds_per_day);
  return matches;
}

namespace {

// The fire times in the seconds [from, to), as next() defines them.
std::uint64_t count_fires(const cron_fields& fields, std::int64_t from, std::int64_t to, const zone& where) noexcept {
  const bool fixed = !fields.wildcard();
  std::uint64_t fires = 0;
  while (from < to) {
    const zone::stretch s = where.stretch_at(from);
    std::int64_t wall = from + s.offset;
    if (fixed) {
      const std::int64_t begin_wall = s.begin + s.offset;
      // A jump is one fire time; a wall time that matches its first instant is that same one.
      const bool jump = from == s.begin && begin_wall > s.passed && fields.count_matches(s.passed, begin_wall) != 0;
      if (jump && !fields.matches(begin_wall)) ++fires;
      wall = std::max(wall, s.passed);
    }
    const std::int64_t end = std::min(s.end, to);
    fires += fields.count_matches(wall, end + s.offset);
    from = end;
  }
  return fires;
}

}  // namespace

cron_expression::fire_span cron_expression::fires_between(instant after, instant upto, const zone& where) const noexcept {
  fire_span span;
  const auto first = next(after, where);
  if (!first || *first > upto) return span;
  span.first = *first;
  if (kind_ == kind::every) {
    upto = std::min(upto, end_of_time);
    span.count = static_cast<std::uint64_t>((upto - after) / every_);
    span.last = after + every_ * static_cast<std::int64_t>(span.count);
    span.before_last = span.last - every_;
    return span;
  }
  const auto seconds_of = [](instant t) { return std::chrono::floor<std::chrono::seconds>(t).time_since_epoch().count(); };
  const std::int64_t begin = seconds_of(*first);
  const std::int64_t end = std::min(seconds_of(upto), seconds_of(end_of_time) - where.least_offset()) + 1;
  span.count = count_fires(fields_, begin, end, where);

  // The latest instant from which on `wanted` fire times are left is one: found by doubling the distance from the end, then
  // halving.
  const auto fire_before_end = [&](std::uint64_t wanted) {
    std::int64_t distance = 1;
    while (distance < end - begin && count_fires(fields_, end - distance, end, where) < wanted) distance *= 2;
    std::int64_t enough = std::max(begin, end - distance), too_late = end;
    while (too_late - enough > 1) {
      const std::int64_t middle = enough + (too_late - enough) / 2;
      (count_fires(fields_, middle, end, where) >= wanted ? enough : too_late) = middle;
    }
    return instant(std::chrono::seconds(enough));
  };
  span.last = fire_before_end(1);
  if (span.count > 1) span.before_last = fire_before_end(2);
  return span;
}

}  // namespace looptask::schedule
