// Canonical text of a cron expression: sets as lists of single values and ranges, fields that begin with a star still do.
#include <bit>
#include <chrono>

#include "schedule/cron.hpp"

namespace looptask::schedule {

namespace {

void add(std::string& list, const std::string& element) {
  if (!list.empty()) list += ',';
  list += element;
}

void add_set(std::string& list, std::uint64_t mask) {
  for (int v = 0; mask >> v != 0 && v < 64; ++v) {
    if ((mask >> v & 1) == 0) continue;
    const int first = v;
    while (v < 63 && (mask >> (v + 1) & 1) != 0) ++v;
    add(list, first == v ? std::to_string(first) : std::to_string(first) + '-' + std::to_string(v));
  }
}

std::uint64_t steps_of(int lowest, int highest, int step) {
  std::uint64_t mask = 0;
  for (int v = lowest; v <= highest; v += step) mask |= std::uint64_t{1} << v;
  return mask;
}

// A field that begins with a star holds `*/n` for at least one n; the densest of them leads the list.
std::string star_set(std::uint64_t mask, int lowest, int highest) {
  int step = 1;
  while ((steps_of(lowest, highest, step) & ~mask) != 0) ++step;
  std::string list = step == 1 ? "*" : "*/" + std::to_string(step);
  add_set(list, mask & ~steps_of(lowest, highest, step));
  return list;
}

std::string plain_set(std::uint64_t mask, int lowest, int highest) {
  if (mask == steps_of(lowest, highest, 1)) return "*";
  std::string list;
  add_set(list, mask);
  return list;
}

// A fixed-time field must not begin with a star, even where it holds every value.
std::string clock_set(std::uint64_t mask, bool star, int highest) {
  if (star) return star_set(mask, 0, highest);
  std::string list;
  add_set(list, mask);
  return list;
}

template <class Visit>
void each_bit(std::uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

std::string days_text(const cron_fields& f) {
  if (f.days_free) return "*";
  std::string list;
  add_set(list, f.days);
  each_bit(f.nearest_weekdays, [&](int day) { add(list, std::to_string(day) + 'W'); });
  each_bit(f.before_last, [&](int n) { add(list, n == 0 ? std::string("L") : "L-" + std::to_string(n)); });
  if (f.last_working_day) add(list, "LW");
  return list;
}

std::string weekdays_text(const cron_fields& f) {
  if (f.weekdays_free) return "*";
  std::string list;
  add_set(list, f.weekdays);
  each_bit(f.nth_weekdays, [&](int n) { add(list, std::to_string(n % 7) + '#' + std::to_string(n / 7 + 1)); });
  each_bit(f.last_weekdays, [&](int day) { add(list, std::to_string(day) + 'L'); });
  return list;
}

std::string years_text(const cron_years& years) {
  std::string list;
  for (const auto& r : years.ranges) {
    std::string element;
    if (r.first == first_year && r.last == last_year) {
      element = "*";
    } else {
      element = std::to_string(r.first);
      // `a/n` runs to the last year, which is shorter than saying so; a lone `a` does not.
      if (r.last != r.first && (r.last != last_year || r.step == 1)) element += '-' + std::to_string(r.last);
    }
    if (r.step != 1 && r.first != r.last) element += '/' + std::to_string(r.step);
    add(list, element);
  }
  return list;
}

}  // namespace

std::string cron_expression::to_string() const {
  if (kind_ == kind::reboot) return "@reboot";
  if (kind_ == kind::every) {
    const std::int64_t total = std::chrono::duration_cast<std::chrono::seconds>(every_).count();
    std::string text = "@every ";
    if (total / 3'600 != 0) text += std::to_string(total / 3'600) + 'h';
    if (total / 60 % 60 != 0) text += std::to_string(total / 60 % 60) + 'm';
    if (total % 60 != 0) text += std::to_string(total % 60) + 's';
    return text;
  }
  const cron_fields& f = fields_;
  std::string text;
  if (f.seconds != 1 || !f.any_year()) text = plain_set(f.seconds, 0, 59) + ' ';
  text += clock_set(f.minutes, f.minute_star, 59) + ' ' + clock_set(f.hours, f.hour_star, 23) + ' ' + days_text(f) + ' ' +
          plain_set(f.months, 1, 12) + ' ' + weekdays_text(f);
  if (!f.any_year()) text += ' ' + years_text(*f.years);
  return text;
}

}  // namespace looptask::schedule
