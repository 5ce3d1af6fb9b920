#include "schedule/zone_names.hpp"

#include <algorithm>
#include <array>

namespace looptask::schedule {

namespace {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// For comparing: letter case and the ways to write a blank do not matter.
std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == ' ' || c == '-' ? '_' : lower(c);
  return out;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

// Edits (insert, drop, change, swap neighbours) from a to b.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = row;
    std::swap(row, next);
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> zone_name_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > 64) return "is longer than any zone's";
  if (name.front() == '/') return "is a path; zones are named like Europe/Berlin";
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (end == at || name[at] == '.') return "has a part that is empty or begins with a dot";
    at = end + 1;
  }
  const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '+' || c == '/'; };
  if (!std::ranges::all_of(name, allowed)) return "has a character no zone's name has; zones are named like Europe/Berlin";
  if (name.starts_with("Fixed/")) return "is a fixed offset; use Etc/GMT-5 for five hours east of UTC";
  if (name.starts_with("posix/") || name.starts_with("right/"))
    return "is a copy inside the database; leave out its first part";
  if (name == "localtime" || name == "posixrules" || name == "Factory") return "is a placeholder; name the zone itself";
  return std::nullopt;
}

std::vector<std::string> zone_names_of(std::string_view tzdata_zi) {
  std::vector<std::string> names;
  while (!tzdata_zi.empty()) {
    const std::size_t end = std::min(tzdata_zi.find('\n'), tzdata_zi.size());
    std::string_view line = tzdata_zi.substr(0, end);
    tzdata_zi.remove_prefix(std::min(end + 1, tzdata_zi.size()));
    const bool is_zone = line.starts_with("Z "), is_link = line.starts_with("L ");
    if (!is_zone && !is_link) continue;
    line.remove_prefix(2);
    if (is_link) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);  // the target comes first
    const std::string_view name = line.substr(0, line.find_first_of(" \t\r"));
    if (!zone_name_fault(name)) names.emplace_back(name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<std::string> nearest_zone_name(std::string_view name, std::span<const std::string> known) {
  if (name.empty() || name.size() > 64) return std::nullopt;
  const std::string wanted = folded(name);
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, name.size() / 4) + 1;  // farther than this is no misspelling
  const bool is_short = name.size() <= 4;                             // some zone is near to any three letters
  for (const std::string& candidate : known) {
    const std::string offered = folded(candidate);
    const std::size_t whole = distance(wanted, offered), city = distance(wanted, last_part(offered));
    if (is_short && whole > 0 && city > 0) continue;
    const std::size_t far = std::min(whole, city + 1);  // "berlin" means Europe/Berlin: a missing region is one edit
    if (far < least) {
      least = far;
      best = &candidate;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

namespace {

// "UTC+5", "gmt-03:00": hours east of Greenwich. The sign is that of the text.
struct offset {
  int hours = 0;
  bool whole = true;
};
std::optional<offset> offset_of(std::string_view name) {
  const std::string text = folded(name.substr(0, 3));
  if (text != "utc" && text != "gmt") return std::nullopt;
  std::string_view rest = name.substr(3);
  if (rest.size() < 2 || rest.size() > 6 || (rest[0] != '+' && rest[0] != '-')) return std::nullopt;
  const bool west = rest[0] == '-';
  rest.remove_prefix(1);
  std::string digits;
  for (const char c : rest) {
    if (c != ':' && !is_digit(c)) return std::nullopt;
    if (c != ':') digits += c;
  }
  if (digits.empty() || digits.size() > 4) return std::nullopt;
  const int number = std::stoi(digits);
  const int hours = digits.size() <= 2 ? number : number / 100;
  return offset{west ? -hours : hours, digits.size() <= 2 || number % 100 == 0};
}

std::string offset_advice(const offset& wanted) {
  if (!wanted.whole || wanted.hours < -12 || wanted.hours > 14)
    return "an offset is no zone; name the place, as in Asia/Kolkata";
  if (wanted.hours == 0) return "write \"UTC\"";
  const bool east = wanted.hours > 0;
  const std::string hours = std::to_string(east ? wanted.hours : -wanted.hours);
  return "an offset is no zone; write \"Etc/GMT" + std::string(east ? "-" : "+") + hours + "\" (" + hours +
         (hours == "1" ? " hour " : " hours ") + (east ? "east" : "west") +
         " of UTC: these names turn the sign), or better the place";
}

// The names of an area that are nearest to what was typed; empty if there is no such area.
std::string area_advice(std::string_view area, std::string_view place, std::span<const std::string> known) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  const std::string wanted = folded(place);
  for (const std::string& candidate : known) {
    if (!folded(candidate).starts_with(folded(area) + "/")) continue;
    near.emplace_back(distance(wanted, folded(last_part(candidate))), candidate);
  }
  if (near.empty()) return {};
  std::ranges::sort(near);
  std::string text = "zones are named Area/City, after the largest city of a region";
  for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 3); ++i) {
    text += (i == 0   ? "; the nearest of " + std::to_string(near.size()) + " are "
             : i == 2 ? " and "
                      : ", ") +
            std::string(near[i].second);
  }
  return text + "; all: ls /usr/share/zoneinfo/" + std::string(near.front().second.substr(0, area.size()));
}

}  // namespace

std::string zone_name_advice(std::string_view name, std::span<const std::string> known) {
  if (known.empty()) return {};
  if (const std::optional<offset> wanted = offset_of(name)) return offset_advice(*wanted);
  if (const auto nearest = nearest_zone_name(name, known)) return "did you mean \"" + *nearest + "\"?";
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos && slash > 0 && name.size() <= 64) {
    if (std::string advice = area_advice(name.substr(0, slash), name.substr(slash + 1), known); !advice.empty()) return advice;
  }
  if (!name.empty() && name.size() <= 5 && std::ranges::all_of(name, is_letter))
    return "an abbreviation may mean several zones; name the place, as in Europe/Berlin";
  return {};
}

}  // namespace looptask::schedule
