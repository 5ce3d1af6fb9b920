#include "schedule/cron_parser.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/printable.hpp"

namespace looptask::schedule {

namespace {

constexpr std::array<std::string_view, 12> month_names{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekday_names{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

constexpr std::size_t longest_text = 8'000, longest_field = 2'000;
constexpr int too_big = 1'000'000'000;  // where reading a number stops counting
constexpr int longest_every_hours = 1'000'000;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr bool is_letter(char c) { return upper(c) >= 'A' && upper(c) <= 'Z'; }

bool all_digits(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

int number_of(std::string_view digits) {
  std::int64_t value = 0;
  for (const char c : digits) value = std::min<std::int64_t>(value * 10 + (c - '0'), too_big);
  return static_cast<int>(value);
}

bool same_letters(std::string_view text, std::string_view upper_case) {
  return text.size() == upper_case.size() &&
         std::equal(text.begin(), text.end(), upper_case.begin(), [](char a, char b) { return upper(a) == b; });
}

// What other programs know and this grammar does not, with what to write instead; empty: nothing of that kind.
std::string_view foreign_form(std::string_view element) {
  if (element.find('~') != std::string_view::npos)
    return "~ (a time left to chance) is not known here; write one time, or a range with -";
  if (element.find('%') != std::string_view::npos) return "% has no meaning in an expression; leave it out";
  if (element == "H" || element.starts_with("H/") || element.starts_with("H("))
    return "H (a time made from the job's name) is not known here; write one time";
  if (element.starts_with('+')) return "a sign in front of a number; leave it out";
  return {};
}

bool names_a_zone(std::string_view text) { return text.starts_with("CRON_TZ=") || text.starts_with("TZ="); }

bool ends_with_letter(std::string_view text, char upper_case) { return !text.empty() && upper(text.back()) == upper_case; }

}  // namespace

struct cron_parser::field_rule {
  enum which { second, minute, hour, day_of_month, month, day_of_week, year };
  which id;
  std::string_view name;
  int lowest, highest;
  std::span<const std::string_view> names;
  int first_name;         // the value of names[0]
  std::string_view form;  // what would be right

  bool is_day() const { return id == day_of_month || id == day_of_week; }
};

namespace {

using rule = cron_parser::field_rule;
constexpr std::array<rule, 7> rules{{
    {rule::second, "second", 0, 59, {}, 0, "seconds are 0-59"},
    {rule::minute, "minute", 0, 59, {}, 0, "minutes are 0-59"},
    {rule::hour, "hour", 0, 23, {}, 0, "hours are 0-23"},
    {rule::day_of_month, "day of month", 1, 31, {}, 0, "days of the month are 1-31, L, L-n, nW, LW"},
    {rule::month, "month", 1, 12, month_names, 1, "months are 1-12 or JAN-DEC"},
    {rule::day_of_week, "day of week", 0, 7, weekday_names, 0,
     "days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT, 5L or FRIL, 5#2 or FRI#2"},
    {rule::year, "year", first_year, last_year, {}, 0, "years are 1970-9999"},
}};

}  // namespace

bool cron_parser::fail(const field_rule* where, text_view piece, std::string why) {
  fault_ = "column " + std::to_string(column_of(piece)) + ", ";
  if (where != nullptr) fault_ += std::string(where->name) + " ";
  fault_ += in_quotes(piece) + ": " + std::move(why);
  if (where != nullptr) fault_ += "; " + std::string(where->form);
  return false;
}

result<cron_expression> cron_parser::run() {
  text_view trimmed = text_;
  while (!trimmed.empty() && is_blank(trimmed.front())) trimmed.remove_prefix(1);
  while (!trimmed.empty() && is_blank(trimmed.back())) trimmed.remove_suffix(1);
  if (trimmed.size() > longest_text) {
    return error{"a cron expression of " + std::to_string(trimmed.size()) + " characters; at most " +
                 std::to_string(longest_text) + " make sense (use ranges and steps)"};
  }
  if (trimmed.empty())
    return error{"an empty cron expression; write minute hour day-of-month month day-of-week, as in 0 3 * * *"};
  if (names_a_zone(trimmed)) {
    fail(nullptr, trimmed.substr(0, trimmed.find_first_of(" \t")),
         "an expression holds no zone; name it beside the expression, as timezone of the job or with --tz");
    return error{std::move(fault_)};
  }
  const bool good = trimmed.front() == '@' ? read_macro(trimmed) : read_fields(trimmed);
  if (!good) return error{std::move(fault_)};
  return std::move(made_);
}

// ---- macros ----

bool cron_parser::read_macro(text_view macro) {
  constexpr std::array<std::pair<text_view, text_view>, 7> same_as{{{"@yearly", "0 0 1 1 *"},
                                                                    {"@annually", "0 0 1 1 *"},
                                                                    {"@monthly", "0 0 1 * *"},
                                                                    {"@weekly", "0 0 * * 0"},
                                                                    {"@daily", "0 0 * * *"},
                                                                    {"@midnight", "0 0 * * *"},
                                                                    {"@hourly", "0 * * * *"}}};
  for (const auto& [name, fields] : same_as) {
    if (macro == name) {
      text_ = fields;
      return read_fields(fields);
    }
  }
  if (macro == "@reboot") {
    made_.kind_ = cron_expression::kind::reboot;
    return true;
  }
  const std::size_t blank = std::min(macro.find_first_of(" \t"), macro.size());
  const text_view name = macro.substr(0, blank);
  text_view rest = macro.substr(blank);
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  if (name == "@every") return read_every(rest.empty() ? macro.substr(macro.size()) : rest);

  constexpr text_view known = "@yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, @reboot and @every 1h30m";
  const bool is_known = name == "@reboot" || std::ranges::any_of(same_as, [&](auto& m) { return m.first == name; });
  if (is_known) return fail(nullptr, rest, "nothing may follow the macro " + std::string(name));
  return fail(nullptr, name, "no such macro; there are " + std::string(known) + ", in lower case");
}

// Hours, minutes, seconds; each at most once, largest first.
bool cron_parser::read_every(text_view duration) {
  constexpr text_view form = "write hours, minutes and seconds, as in @every 1h30m, at least 1s and at most 1000000h";
  const auto refuse = [&](text_view piece, std::string why) {
    return fail(nullptr, piece, std::move(why) + "; " + std::string(form));
  };
  if (duration.empty()) return refuse(duration, "@every needs an interval");
  constexpr text_view units = "hms";
  constexpr std::array<std::int64_t, 3> worth{3'600, 60, 1};
  std::int64_t total = 0;
  std::size_t allowed = 0;
  for (text_view rest = duration; !rest.empty();) {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0) return refuse(rest, "expected a whole number");
    if (digits == rest.size()) return refuse(rest, "the unit is missing");
    const std::size_t unit = units.find(rest[digits]);
    if (unit == text_view::npos) return refuse(rest.substr(digits), "no such unit");
    if (unit < allowed) return refuse(rest, "each unit at most once, the largest first");
    total += number_of(rest.substr(0, digits)) * worth[unit];
    allowed = unit + 1;
    rest.remove_prefix(digits + 1);
  }
  if (total < 1) return refuse(duration, "the interval is zero");
  if (total > longest_every_hours * std::int64_t{3'600}) return refuse(duration, "the interval is too long");
  made_.kind_ = cron_expression::kind::every;
  made_.every_ = std::chrono::seconds(total);
  return true;
}

// ---- fields ----

bool cron_parser::read_fields(text_view trimmed) {
  std::array<text_view, 7> fields;
  std::size_t count = 0;
  bool blank_in_list = false;
  for (text_view rest = trimmed; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    const text_view field = rest.substr(0, end);
    if (field.front() == '#')
      return fail(nullptr, rest, "an expression holds no comment; leave it out, or make it one of the file");
    if (count < fields.size()) fields[count] = field;
    ++count;
    blank_in_list = blank_in_list || (end < rest.size() && field.back() == ',');
    rest.remove_prefix(end);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  }
  if (blank_in_list)
    return fail(nullptr, trimmed, "a blank after a comma splits a field in two; write lists without blanks, as in 0,30");
  if (count < 5 || count > 7) {
    return fail(
        nullptr, trimmed,
        std::to_string(count) + (count == 1 ? " field" : " fields") +
            "; a cron expression has 5 (minute hour day-of-month month day-of-week), 6 (second first) or 7 (year last)");
  }
  made_.written_.many_fields = count > 5;
  const std::size_t first_rule = count == 5 ? 1 : 0;
  if (first_rule == 0) made_.fields_.seconds = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!read_field(rules[first_rule + i], fields[i])) return false;
  }
  if (count == 7 && !years_.set.all()) made_.fields_.years = std::make_shared<const cron_years>(std::move(years_));
  return true;
}

bool cron_parser::read_field(const field_rule& where, text_view field) {
  cron_fields& to = made_.fields_;
  if (field.size() > longest_field) {
    return fail(&where, field, "a list of " + std::to_string(field.size()) + " characters is too long, use ranges and steps");
  }
  if (field.front() == '*') {
    if (where.id == rule::minute) to.minute_star = true;
    if (where.id == rule::hour) to.hour_star = true;
    if (where.is_day() && field.starts_with("*/")) made_.written_.stepped_day_star = true;
  }
  if (field.find('?') != text_view::npos) {
    if (!where.is_day()) return fail(&where, field, "? stands for any day, in the two day fields only; write *");
    if (field != "?") return fail(&where, field, "? must stand alone");
  }
  if (where.is_day() && (field == "*" || field == "?")) {
    (where.id == rule::day_of_month ? to.days_free : to.weekdays_free) = true;
    return true;
  }
  for (std::size_t begin = 0; begin <= field.size();) {
    const std::size_t end = std::min(field.find(',', begin), field.size());
    const text_view element = field.substr(begin, end - begin);
    if (element.empty()) return fail(&where, field, "an element of the list is empty");
    if (!read_element(where, element)) return false;
    begin = end + 1;
  }
  return true;
}

bool cron_parser::read_element(const field_rule& where, text_view element) {
  if (const std::string_view foreign = foreign_form(element); !foreign.empty())
    return fail(&where, element, std::string(foreign));
  bool taken = false;
  if (where.id == rule::day_of_month && !read_day_of_month(element, taken)) return false;
  if (where.id == rule::day_of_week && !read_day_of_week(where, element, taken)) return false;
  if (taken) return true;

  const std::size_t slash = std::min(element.find('/'), element.size());
  const text_view base = element.substr(0, slash);
  int step = 1;
  if (slash < element.size() && !read_step(where, element.substr(slash + 1), step)) return false;

  // Days of the week count from 0 to 6 where a range is meant to be a full one.
  const int highest = where.id == rule::day_of_week ? 6 : where.highest;
  if (base == "*") {
    const int length = highest - where.lowest + 1;
    if (step >= length) {
      made_.written_.step_too_big = true;
    } else if (length % step != 0 && where.id != rule::year) {
      made_.written_.uneven_step = true;
    }
    return add_range(where, where.lowest, highest, step);
  }
  if (base.empty()) return fail(&where, element, "nothing before the /");
  if (base.front() == '*') return fail(&where, element, "only a step may follow *, as in */5");
  if (base.front() == '-')
    return fail(&where, element, base.size() > 1 && is_digit(base[1]) ? "a negative number" : "the range has no start");

  const std::size_t dash = base.find('-');
  int first = 0;
  if (!read_value(where, base.substr(0, dash), first)) return false;
  if (dash == text_view::npos) {
    if (slash == element.size()) return add_range(where, first, first, 1);
    if (where.id == rule::day_of_week) first %= 7;
    if (step > highest - first) made_.written_.step_too_big = true;
    return add_range(where, first, highest, step);
  }
  const text_view end = base.substr(dash + 1);
  int last = 0;
  if (end.empty()) return fail(&where, element, "the range has no end");
  if (end == "*") return fail(&where, element, "* cannot end a range");
  if (end.find('-') != text_view::npos) return fail(&where, element, "a range has two ends");
  if (!read_value(where, end, last)) return false;
  if (first > last && where.id == rule::year) return fail(&where, element, "years do not run over their end");
  return add_range(where, first, last, step);
}

// L, L-n, nW, LW; `taken` if the element is one of these forms.
bool cron_parser::read_day_of_month(text_view element, bool& taken) {
  const field_rule& where = rules[rule::day_of_month];
  cron_fields& to = made_.fields_;
  if (same_letters(element, "LW")) {
    taken = to.last_working_day = true;
    return true;
  }
  if (upper(element.front()) == 'L') {
    taken = true;
    if (element.size() == 1) {
      to.before_last |= 1U;
      return true;
    }
    const text_view number = element.substr(2);
    if (element[1] != '-' || !all_digits(number))
      return fail(&where, element, "L stands alone, or with days before the last, as in L-3");
    const int days = number_of(number);
    if (days < 1 || days > 30) return fail(&where, element, "no month has such a day, L-n takes 1-30");
    to.before_last |= std::uint32_t{1} << days;
    return true;
  }
  if (ends_with_letter(element, 'W')) {
    taken = true;
    const text_view number = element.substr(0, element.size() - 1);
    if (!all_digits(number)) return fail(&where, element, "W takes one day of the month, as in 15W");
    int day = 0;
    if (!read_value(where, number, day)) return false;
    to.nearest_weekdays |= std::uint32_t{1} << day;
    return true;
  }
  return true;
}

// dL and d#k.
bool cron_parser::read_day_of_week(const field_rule& where, text_view element, bool& taken) {
  cron_fields& to = made_.fields_;
  int weekday = 0;
  if (same_letters(element, "L"))
    return fail(&where, element, "L needs its weekday, as in 5L, the last Friday (Saturday is 6)");
  const std::size_t hash = element.find('#');
  if (hash != text_view::npos) {
    taken = true;
    const text_view which = element.substr(hash + 1);
    if (element.substr(0, hash).find('-') != text_view::npos)
      return fail(&where, element, "# takes one day of the week; write a list, as in 1#2,2#2,3#2");
    if (!read_value(where, element.substr(0, hash), weekday)) return false;
    if (which.size() != 1 || which[0] < '1' || which[0] > '5')
      return fail(&where, element, "# takes 1-5, as in MON#1, the first Monday");
    to.nth_weekdays |= std::uint64_t{1} << (7 * (which[0] - '1') + weekday % 7);
    return true;
  }
  if (ends_with_letter(element, 'L')) {
    taken = true;
    if (element.find('-') != text_view::npos)
      return fail(&where, element, "L takes one day of the week; write a list, as in 1L,2L,3L");
    if (!read_value(where, element.substr(0, element.size() - 1), weekday)) return false;
    to.last_weekdays |= static_cast<std::uint8_t>(1U << (weekday % 7));
  }
  return true;
}

bool cron_parser::read_value(const field_rule& where, text_view text, int& value) {
  if (text.empty()) return fail(&where, text, "a value is missing");
  if (all_digits(text)) {
    value = number_of(text);
    if (value < where.lowest) return fail(&where, text, "below " + std::to_string(where.lowest));
    if (value > where.highest) return fail(&where, text, "above " + std::to_string(where.highest));
    return true;
  }
  for (std::size_t i = 0; i < where.names.size(); ++i) {
    if (same_letters(text, where.names[i])) {
      value = where.first_name + static_cast<int>(i);
      return true;
    }
  }
  if (!where.names.empty() && std::ranges::all_of(text, is_letter)) {
    for (const text_view name : where.names) {
      if (text.size() > 3 && same_letters(text.substr(0, 3), name))
        return fail(&where, text, "names have three letters, write " + std::string(name));
    }
    return fail(&where, text, "no such name");
  }
  if (text.size() == 1 && (upper(text[0]) == 'L' || upper(text[0]) == 'W'))
    return fail(&where, text, "L and W belong to the day fields");
  if (text.find('.') != text_view::npos) return fail(&where, text, "not a whole number");
  return fail(&where, text, where.names.empty() ? "not a number" : "neither a number nor a name");
}

bool cron_parser::read_step(const field_rule& where, text_view text, int& step) {
  if (text.empty()) return fail(&where, text, "the step after / is missing");
  if (text.find('/') != text_view::npos) return fail(&where, text, "two steps");
  if (!all_digits(text)) return fail(&where, text, "the step after / is a whole number, at least 1");
  step = number_of(text);
  if (step < 1) return fail(&where, text, "the step after / is at least 1");
  return true;
}

// A range whose end comes before its start runs over the end of the field, days of the week in a circle of seven.
bool cron_parser::add_range(const field_rule& where, int first, int last, int step) {
  cron_fields& to = made_.fields_;
  if (where.id == rule::year) {
    years_.ranges.push_back({first, last, step});
    for (std::int64_t v = first; v <= last; v += step) years_.set.set(static_cast<std::size_t>(v - first_year));
    return true;
  }
  const int length = where.id == rule::day_of_week ? 7 : where.highest - where.lowest + 1;
  if (first > last) {
    // 5-0 is 5-7 and 7-2 is 0-2: only a range over Saturday night is worth a word to its author.
    if (where.id != rule::day_of_week || (first < 7 && last != 0)) made_.written_.wrapped = true;
    last += length;
  }
  std::uint64_t mask = 0;
  for (std::int64_t v = first; v <= last; v += step) {
    mask |= std::uint64_t{1} << (where.lowest + (v - where.lowest) % length);
  }
  switch (where.id) {
    case rule::second:
      to.seconds |= mask;
      break;
    case rule::minute:
      to.minutes |= mask;
      break;
    case rule::hour:
      to.hours |= static_cast<std::uint32_t>(mask);
      break;
    case rule::day_of_month:
      to.days |= static_cast<std::uint32_t>(mask);
      break;
    case rule::month:
      to.months |= static_cast<std::uint32_t>(mask);
      break;
    case rule::day_of_week:
      to.weekdays |= static_cast<std::uint8_t>(mask);
      break;
    case rule::year:
      break;
  }
  return true;
}

result<cron_expression> cron_expression::parse(std::string_view text) { return cron_parser(text).run(); }

}  // namespace looptask::schedule
