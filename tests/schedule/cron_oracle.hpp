#pragma once
// A second opinion on cron: walks through a zone's time second by second (or lists the times of day of each date) and applies
// the rules of docs/cron.md to what it sees. Slow, simple, and without a line in common with the search it checks: it reads the
// text itself and asks cctz directly.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <cctz/time_zone.h>

namespace looptask::schedule {

class cron_oracle {
 public:
  // `text` has five to seven fields of numbers, lists, ranges, steps, `*`, L, L-n, nW, LW, dL, d#k.
  explicit cron_oracle(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      fields_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    if (fields_.size() == 5) fields_.insert(fields_.begin(), "0");
    if (fields_.size() == 6) fields_.push_back("*");
    constexpr int lowest[] = {0, 0, 0, 1, 1, 0}, highest[] = {59, 59, 23, 31, 12, 6};
    for (std::size_t i = 0; i < 6; ++i) {
      values_.emplace_back();
      if (fields_[i] != "?") read(fields_[i], lowest[i], highest[i], values_[i]);
    }
    std::set<int> years;
    if (fields_[6] != "*") read(fields_[6], 1970, 9999, years);
    values_.push_back(years);
  }

  bool wildcard() const { return fields_[1][0] == '*' || fields_[2][0] == '*'; }

  bool matches(const cctz::civil_second& c) const {
    return has(0, c.second()) && has(1, c.minute()) && has(2, c.hour()) && date_matches(cctz::civil_day(c));
  }
  bool date_matches(const cctz::civil_day& day) const {
    return has(4, day.month()) && (fields_[6] == "*" || has(6, static_cast<int>(day.year()))) && day_matches(day);
  }

  // All fire times t with from < t <= to, in seconds. The zone's changes must lie more than two days apart.
  std::set<std::int64_t> fires(const std::string& zone_name, std::int64_t from, std::int64_t to) const {
    cctz::time_zone zone;
    cctz::load_time_zone(zone_name, &zone);
    const auto time = [](std::int64_t t) { return cctz::time_point<cctz::seconds>(cctz::seconds(t)); };
    std::set<std::int64_t> found;
    if (wildcard()) {
      for (std::int64_t t = from + 1; t <= to; ++t) {
        if (matches(zone.lookup(time(t)).cs)) found.insert(t);
      }
      return found;
    }
    // Each wall time of each date, from two days before to two days after, wherever the zone puts it.
    const cctz::civil_day end = cctz::civil_day(cctz::convert(time(to), zone)) + 2;
    for (cctz::civil_day day(cctz::civil_day(cctz::convert(time(from), zone)) - 2); day < end; ++day) {
      if (!date_matches(day)) continue;
      for (const int hour : values_[2]) {
        for (const int minute : values_[1]) {
          for (const int second : values_[0]) {
            const auto shown = zone.lookup(cctz::civil_second(day.year(), day.month(), day.day(), hour, minute, second));
            // pre is the first showing of a repeated time; a missing time fires at the change itself.
            const auto fire = shown.kind == cctz::time_zone::civil_lookup::SKIPPED ? shown.trans : shown.pre;
            const std::int64_t t = fire.time_since_epoch().count();
            if (t > from && t <= to) found.insert(t);
          }
        }
      }
    }
    return found;
  }

 private:
  bool has(std::size_t field, int value) const { return values_[field].contains(value); }

  static void read(const std::string& field, int lowest, int highest, std::set<int>& values) {
    for (std::size_t at = 0; at <= field.size();) {
      const std::size_t end = std::min(field.find(',', at), field.size());
      read_element(field.substr(at, end - at), lowest, highest, values);
      at = end + 1;
    }
  }
  static void read_element(const std::string& element, int lowest, int highest, std::set<int>& values) {
    if (element.find_first_of("LW#") != std::string::npos) return;  // looked at day by day
    int first = lowest, last = highest, step = 1;
    const std::size_t slash = element.find('/'), dash = element.find('-');
    if (element[0] != '*') {
      first = last = std::stoi(element);
      if (dash != std::string::npos) last = std::stoi(element.substr(dash + 1));
      if (dash == std::string::npos && slash != std::string::npos) last = highest;
    }
    if (slash != std::string::npos) step = std::stoi(element.substr(slash + 1));
    const int size = highest - lowest + 1;
    if (last < first) last += size;
    for (int v = first; v <= last; v += step) values.insert(lowest + (v - lowest) % size);
  }

  static int weekday(const cctz::civil_day& day) { return (static_cast<int>(cctz::get_weekday(day)) + 1) % 7; }

  template <class Test>
  static bool any_element(const std::string& field, Test test) {
    for (std::size_t at = 0; at <= field.size();) {
      const std::size_t end = std::min(field.find(',', at), field.size());
      if (test(field.substr(at, end - at))) return true;
      at = end + 1;
    }
    return false;
  }

  static bool special_day(const std::string& element, const cctz::civil_day& day) {
    const cctz::civil_day last = cctz::civil_day(cctz::civil_month(day) + 1) - 1;
    if (element == "L") return day == last;
    if (element.starts_with("L-")) return day == last - std::stoi(element.substr(2));
    const auto is_free = [](const cctz::civil_day& d) { return weekday(d) == 0 || weekday(d) == 6; };
    if (element == "LW") {
      cctz::civil_day d = last;
      while (is_free(d)) --d;
      return day == d;
    }
    if (element.back() != 'W') return false;
    const int wanted = std::stoi(element);
    if (wanted > last.day()) return false;
    // The nearest of all working days of this month; the earlier neighbour on a Saturday, the later on a Sunday.
    const cctz::civil_day target(day.year(), day.month(), wanted);
    for (const int away : {0, -1, 1, 2, -2}) {
      const cctz::civil_day d = target + (weekday(target) == 0 ? -away : away);
      if (cctz::civil_month(d) == cctz::civil_month(target) && !is_free(d)) return day == d;
    }
    return false;
  }

  static bool special_weekday(const std::string& element, const cctz::civil_day& day) {
    if (element.back() == 'L') return weekday(day) == element[0] - '0' && cctz::civil_month(day + 7) != cctz::civil_month(day);
    if (element.size() == 3 && element[1] == '#') {
      return weekday(day) == element[0] - '0' && (day.day() - 1) / 7 + 1 == element[2] - '0';
    }
    return false;
  }

  bool day_matches(const cctz::civil_day& day) const {
    const bool any_day = fields_[3] == "*" || fields_[3] == "?", any_weekday = fields_[5] == "*" || fields_[5] == "?";
    const bool by_day = has(3, day.day()) || any_element(fields_[3], [&](const std::string& e) { return special_day(e, day); });
    const bool by_weekday =
        has(5, weekday(day)) || any_element(fields_[5], [&](const std::string& e) { return special_weekday(e, day); });
    if (any_day && any_weekday) return true;
    if (any_day) return by_weekday;
    if (any_weekday) return by_day;
    return by_day || by_weekday;
  }

  std::vector<std::string> fields_;
  std::vector<std::set<int>> values_;
};

}  // namespace looptask::schedule
