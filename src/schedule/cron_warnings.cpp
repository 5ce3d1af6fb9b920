#include "schedule/cron_warnings.hpp"

#include <bit>
#include <chrono>

namespace looptask::schedule {

namespace {

constexpr std::int64_t ten_years = 3'653 * seconds_per_day;
constexpr std::chrono::hours longest_year{367 * 24};
constexpr std::uint32_t every_hour = (1U << 24) - 1;
constexpr std::uint64_t sixty = (std::uint64_t{1} << 60) - 1;

bool is_rare(const cron_expression& e, const zone& where, instant first) {
  if (!e.fields()->any_year()) return false;
  const auto second = e.next(first + std::chrono::hours(24), where);
  return !second || *second - first > longest_year;
}

// The day of the month decides alone, and in a common year some of the months have no such day.
bool misses_months(const cron_fields& f) {
  if (f.days_free || !f.weekdays_free) return false;
  constexpr int common_year = 2023;
  for (int month = 1; month <= 12; ++month) {
    if ((f.months >> month & 1U) != 0 && f.days_in(common_year, month, days_of(common_year, month, 1)) == 0) return true;
  }
  return false;
}

bool is_often(const cron_expression& e) {
  const cron_fields& f = *e.fields();
  if (f.seconds == sixty) return true;
  return !e.written().many_fields && f.minutes == sixty && std::popcount(f.hours) == 1;
}

struct clock_changes {
  bool gap = false, fold = false;
};

// A job that runs in every hour goes on in even steps whatever the clock shows, if it is a wildcard job.
clock_changes touched_by(const cron_fields& f, const zone& where, std::int64_t from) {
  clock_changes touched;
  if (f.wildcard() && f.hours == every_hour) return touched;
  for (zone::stretch s = where.stretch_at(from); s.end < from + ten_years;) {
    s = where.stretch_at(s.end);
    const std::int64_t begin = s.begin + s.offset;
    if (begin > s.passed && f.first_match(s.passed) < begin) touched.gap = true;
    if (begin < s.passed && f.first_match(begin) < s.passed) touched.fold = true;
    if (touched.gap && touched.fold) break;
  }
  return touched;
}

}  // namespace

std::vector<cron_warning> warnings_of(const cron_expression& e, const zone& where, instant from) {
  if (e.is_reboot()) return {cron_warning::no_times};
  const auto first = e.next(from, where);
  if (!first) return {cron_warning::never};
  if (e.fields() == nullptr) return {};

  const cron_fields& f = *e.fields();
  std::vector<cron_warning> found;
  const auto add_if = [&](bool condition, cron_warning what) {
    if (condition) found.push_back(what);
  };
  const bool rare = is_rare(e, where, *first), both_days = !f.days_free && !f.weekdays_free;
  add_if(rare, cron_warning::rare);
  add_if(!rare && misses_months(f), cron_warning::short_month);
  add_if(both_days && !e.written().stepped_day_star, cron_warning::day_or);
  add_if(both_days && e.written().stepped_day_star, cron_warning::day_step);
  add_if(e.written().uneven_step, cron_warning::uneven);
  add_if(e.written().step_too_big, cron_warning::big_step);
  add_if(is_often(e), cron_warning::often);
  add_if(e.written().wrapped, cron_warning::wrap);
  const clock_changes touched =
      touched_by(f, where, std::chrono::floor<std::chrono::seconds>(*first).time_since_epoch().count() - seconds_per_day);
  add_if(touched.gap, cron_warning::dst_gap);
  add_if(touched.fold, cron_warning::dst_fold);
  return found;
}

std::string_view name_of(cron_warning what) noexcept {
  switch (what) {
    case cron_warning::never:
      return "never";
    case cron_warning::no_times:
      return "no-times";
    case cron_warning::rare:
      return "rare";
    case cron_warning::short_month:
      return "short-month";
    case cron_warning::day_or:
      return "day-or";
    case cron_warning::day_step:
      return "day-step";
    case cron_warning::uneven:
      return "uneven";
    case cron_warning::big_step:
      return "big-step";
    case cron_warning::often:
      return "often";
    case cron_warning::wrap:
      return "wrap";
    case cron_warning::dst_gap:
      return "dst-gap";
    case cron_warning::dst_fold:
      return "dst-fold";
  }
  return "";
}

std::string_view explanation_of(cron_warning what) noexcept {
  switch (what) {
    case cron_warning::never:
      return "it never fires: no such date comes any more";
    case cron_warning::no_times:
      return "@reboot has no clock times; it fires once when the service starts";
    case cron_warning::rare:
      return "more than a year passes between two fire times";
    case cron_warning::short_month:
      return "months without that day are left out; L is the last day of every month";
    case cron_warning::day_or:
      return "day of month and day of week are both given: either one is enough; for the first Monday write 1#1, for the last "
             "Friday 5L";
    case cron_warning::day_step:
      return "day of month and day of week are both given: either one is enough, although one begins with */; other daemons "
             "want both";
    case cron_warning::uneven:
      return "the step does not divide its field: the gap around the field's end is shorter than the others";
    case cron_warning::big_step:
      return "the step is larger than the field and leaves one value only";
    case cron_warning::often:
      return "it fires every second, or every minute of one hour; for one run write the minute (and 0 for the second)";
    case cron_warning::wrap:
      return "the range runs over the end of its field; many other parsers refuse it";
    case cron_warning::dst_gap:
      return "the clock of the zone jumps over some of its times: a fixed time then runs right after the jump, a wildcard not "
             "at all";
    case cron_warning::dst_fold:
      return "the clock of the zone shows some of its times twice: a fixed time then runs the first time only, a wildcard both "
             "times";
  }
  return "";
}

}  // namespace looptask::schedule
