#pragma once
// Dates and times of day without a zone, as integers: the proleptic Gregorian calendar counted in days and seconds from
// 1970-01-01. Pure values and constexpr functions; any thread; nothing here can fail for years from -1,000,000 to 1,000,000.
//
//   wall    seconds a zoneless clock has counted since 1970-01-01T00:00:00. Not an instant: it needs a zone to become one.
//
//   const civil noon{2024, 2, 29, 12, 0, 0};
//   wall_of(noon) % 86'400 == 43'200
//   civil_of(wall_of(noon) + 86'400) == civil{2024, 3, 1, 12, 0, 0}
//   weekday_of(days_of(2024, 2, 29)) == 4   // Thursday
#include <compare>
#include <cstdint>

namespace looptask::schedule {

// Fields of a wall clock, without a zone. Valid as a date unless said otherwise.
struct civil {
  std::int64_t year = 1970;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0;
  auto operator<=>(const civil&) const = default;
};

struct civil_date {
  std::int64_t year;
  int month, day;
};

inline constexpr std::int64_t seconds_per_day = 86'400;
// Dates and weekdays repeat after 400 years: 146,097 days, a whole number of weeks.
inline constexpr std::int64_t seconds_per_400_years = 146'097 * seconds_per_day;

constexpr bool is_leap(std::int64_t year) noexcept { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

constexpr int days_in_month(std::int64_t year, int month) noexcept {
  return month == 2 ? 28 + static_cast<int>(is_leap(year)) : 30 + ((month + (month >> 3)) & 1);
}

// Years are counted from March, so that the leap day is the last of its year and months have a closed formula.
constexpr std::int64_t days_of(std::int64_t year, int month, int day) noexcept {
  const std::int64_t y = year - (month <= 2 ? 1 : 0);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

constexpr civil_date date_of(std::int64_t days) noexcept {
  const std::int64_t shifted = days + 719'468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const auto day_of_era = static_cast<std::uint32_t>(shifted - era * 146'097);
  const std::uint32_t year_of_era = (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::uint32_t from_march = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(from_march) + (from_march < 10 ? 3 : -9);
  return {static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0), month,
          static_cast<int>(day_of_year - (153 * from_march + 2) / 5) + 1};
}

// 0 is Sunday.
constexpr int weekday_of(std::int64_t days) noexcept {
  return static_cast<int>(days >= -4 ? (days + 4) % 7 : (days + 5) % 7 + 6);
}

constexpr std::int64_t wall_of(const civil& c) noexcept {
  return days_of(c.year, c.month, c.day) * seconds_per_day + c.hour * 3'600 + c.minute * 60 + c.second;
}

constexpr civil civil_of(std::int64_t wall) noexcept {
  const std::int64_t days = (wall >= 0 ? wall : wall - (seconds_per_day - 1)) / seconds_per_day;
  const int rest = static_cast<int>(wall - days * seconds_per_day);
  const civil_date date = date_of(days);
  return {date.year, date.month, date.day, rest / 3'600, rest / 60 % 60, rest % 60};
}

}  // namespace looptask::schedule
