#include "schedule/cron_fields.hpp"

#include <algorithm>
#include <bit>

namespace looptask::schedule {

namespace {

constexpr std::uint64_t from_bit(int bit) { return ~std::uint64_t{0} << bit; }
constexpr std::uint32_t bit(int n) { return std::uint32_t{1} << n; }

template <class Mask, class Visit>
void each_bit(Mask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

// The day of month `day`, moved off a weekend but never out of its month.
constexpr int nearest_working_day(int day, int weekday, int length) {
  if (weekday == 6) return day > 1 ? day - 1 : day + 2;
  if (weekday == 0) return day < length ? day + 1 : day - 2;
  return day;
}

}  // namespace

bool cron_fields::operator==(const cron_fields& o) const noexcept {
  const bool days_equal = days_free == o.days_free &&
                          (days_free || (days == o.days && before_last == o.before_last &&
                                         nearest_weekdays == o.nearest_weekdays && last_working_day == o.last_working_day));
  const bool weekdays_equal =
      weekdays_free == o.weekdays_free &&
      (weekdays_free || (weekdays == o.weekdays && last_weekdays == o.last_weekdays && nth_weekdays == o.nth_weekdays));
  const bool years_equal = any_year() == o.any_year() && (any_year() || years->set == o.years->set);
  return seconds == o.seconds && minutes == o.minutes && hours == o.hours && months == o.months && days_equal &&
         weekdays_equal && years_equal && minute_star == o.minute_star && hour_star == o.hour_star;
}

std::uint32_t cron_fields::days_in(std::int64_t year, int month, std::int64_t first) const noexcept {
  const int length = days_in_month(year, month);
  const std::uint32_t all = static_cast<std::uint32_t>((from_bit(1) & ~from_bit(length + 1)));
  if (days_free && weekdays_free) return all;
  const int weekday = weekday_of(first);
  const auto weekday_on = [&](int day) { return (weekday + day - 1) % 7; };

  std::uint32_t picked = 0;
  if (!days_free) {
    picked |= days & all;
    if (before_last != 0) each_bit(before_last, [&](int n) { picked |= n < length ? bit(length - n) : 0; });
    if (nearest_weekdays != 0) {
      each_bit(nearest_weekdays & all, [&](int n) { picked |= bit(nearest_working_day(n, weekday_on(n), length)); });
    }
    if (last_working_day) picked |= bit(nearest_working_day(length, weekday_on(length), length));
  }
  if (!weekdays_free) {
    // Six weeks of the pattern, turned so that bit 1 is the month's first day.
    constexpr std::uint64_t each_week = 1 | 1ULL << 7 | 1ULL << 14 | 1ULL << 21 | 1ULL << 28 | 1ULL << 35;
    picked |= static_cast<std::uint32_t>((weekdays * each_week >> weekday) << 1) & all;
    if (last_weekdays != 0) {
      each_bit(last_weekdays, [&](int d) { picked |= bit(length - (weekday_on(length) - d + 7) % 7); });
    }
    if (nth_weekdays != 0) {
      each_bit(nth_weekdays, [&](int n) {
        const int day = 1 + (n % 7 - weekday + 7) % 7 + n / 7 * 7;
        picked |= day <= length ? bit(day) : 0;
      });
    }
  }
  return picked;
}

bool cron_fields::year_matches(std::int64_t year) const noexcept {
  if (year < first_year || year > last_year) return false;
  return any_year() || years->set[static_cast<std::size_t>(year - first_year)];
}

bool cron_fields::matches(std::int64_t wall) const noexcept {
  const civil c = civil_of(wall);
  return year_matches(c.year) && (months >> c.month & 1U) != 0 &&
         (days_in(c.year, c.month, days_of(c.year, c.month, 1)) >> c.day & 1U) != 0 && (hours >> c.hour & 1U) != 0 &&
         (minutes >> c.minute & 1U) != 0 && (seconds >> c.second & 1U) != 0;
}

// The first matching second of a day not before `second_of_day`; -1 if the day has none left.
std::int64_t cron_fields::time_from(std::int64_t second_of_day) const noexcept {
  const int from = static_cast<int>(second_of_day);
  const int hour = from / 3'600, minute = from / 60 % 60, second = from % 60;
  if ((hours >> hour & 1U) != 0) {
    if ((minutes >> minute & 1U) != 0) {
      if (const std::uint64_t left = seconds & from_bit(second); left != 0) {
        return hour * 3'600 + minute * 60 + std::countr_zero(left);
      }
    }
    if (const std::uint64_t left = minutes & from_bit(minute + 1); left != 0) {
      return hour * 3'600 + std::countr_zero(left) * 60 + std::countr_zero(seconds);
    }
  }
  if (const std::uint64_t left = hours & from_bit(hour + 1); left != 0) {
    return std::countr_zero(left) * 3'600 + std::countr_zero(minutes) * 60 + std::countr_zero(seconds);
  }
  return -1;
}

std::int64_t cron_fields::first_match(std::int64_t from) const noexcept {
  if (from >= no_wall) return no_wall;
  if (from < 0) from = 0;
  const std::int64_t day = from / seconds_per_day;
  const civil_date today = date_of(day);
  const std::int64_t first_time = std::countr_zero(hours) * 3'600 + std::countr_zero(minutes) * 60 + std::countr_zero(seconds);

  std::int64_t year = today.year;
  int month = today.month;
  if (!year_matches(year)) {
    month = 12;
  } else if ((months >> month & 1U) != 0) {
    const std::int64_t first = day - (today.day - 1);
    const std::uint64_t picked = days_in(year, month, first);
    if ((picked >> today.day & 1U) != 0) {
      if (const std::int64_t time = time_from(from % seconds_per_day); time >= 0) return day * seconds_per_day + time;
    }
    if (const std::uint64_t left = picked & from_bit(today.day + 1); left != 0) {
      return (first + std::countr_zero(left) - 1) * seconds_per_day + first_time;
    }
  }
  // Dates repeat after 400 years: without a year field, what does not come in that time never comes.
  const std::int64_t end = any_year() ? std::min<std::int64_t>(last_year, year + 400) : last_year;
  for (;;) {
    if (const std::uint64_t left = months & from_bit(month + 1); left != 0) {
      month = std::countr_zero(left);
    } else {
      do ++year;
      while (year <= end && !year_matches(year));
      if (year > end) return no_wall;
      month = std::countr_zero(months);
    }
    const std::int64_t first = days_of(year, month, 1);
    if (const std::uint32_t picked = days_in(year, month, first); picked != 0) {
      return (first + std::countr_zero(picked) - 1) * seconds_per_day + first_time;
    }
  }
}

}  // namespace looptask::schedule
