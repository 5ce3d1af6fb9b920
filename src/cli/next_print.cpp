#include "cli/next_print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "schedule/instant_text.hpp"
#include "service/wall_text.hpp"

namespace looptask::cli {
namespace {

using schedule::fraction;
using schedule::instant_text;

// Wall time as RFC 3339 with its offset, `separator` between date and time.
std::string local_text(instant at, const schedule::zone& zone, char separator, bool milliseconds) {
  const auto second = std::chrono::floor<std::chrono::seconds>(at);
  const schedule::civil c = zone.to_civil(second);
  const std::int64_t offset = schedule::wall_of(c) - second.time_since_epoch().count();
  const std::int64_t distance = offset < 0 ? -offset : offset;
  std::string text = service::wall_text(at, zone, separator, milliseconds);
  text += fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', distance / 3'600, distance / 60 % 60);
  if (distance % 60 != 0) text += fmt::format(":{:02}", distance % 60);  // local mean time of long ago
  return text;
}

bool whole_seconds(const coming& found) {
  return std::ranges::all_of(found.fires,
                             [](const coming_fire& f) { return f.at.time_since_epoch().count() % 1'000'000 == 0; });
}

std::string weekday_name(instant at, const schedule::zone& zone) {
  constexpr std::string_view names = "SunMonTueWedThuFriSat";
  const schedule::civil c = zone.to_civil(std::chrono::floor<std::chrono::seconds>(at));
  return std::string(
      names.substr(3 * static_cast<std::size_t>(schedule::weekday_of(schedule::days_of(c.year, c.month, c.day))), 3));
}

std::string heading(const next_answer& a) {
  std::string text = a.item.name.empty() ? a.found.trigger : a.item.name + ": " + a.found.trigger;
  text += " (" + a.item.zone.name() + ")";
  return text;
}

std::string_view dst_name(schedule::dst_note what) {
  switch (what) {
    case schedule::dst_note::none:
      break;
    case schedule::dst_note::moved:
      return "moved";
    case schedule::dst_note::merged:
      return "merged";
    case schedule::dst_note::first_showing:
      return "first-showing";
    case schedule::dst_note::second_showing:
      return "second-showing";
  }
  return "";
}

}  // namespace

std::string distance_text(microseconds ahead) {
  const bool past = ahead.count() < 0;
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(past ? -ahead : ahead).count();
  if (seconds == 0) return "now";
  constexpr std::pair<std::int64_t, char> units[] = {{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}};
  std::string text;
  for (std::size_t i = 0; i < std::size(units) && text.empty(); ++i) {
    const auto [worth, unit] = units[i];
    if (seconds < worth) continue;
    text = fmt::format("{}{}", seconds / worth, unit);
    if (i + 1 < std::size(units)) {
      const auto [next_worth, next_unit] = units[i + 1];
      if (const std::int64_t rest = seconds % worth / next_worth; rest != 0) text += fmt::format(" {}{}", rest, next_unit);
    }
  }
  return past ? text + " ago" : "in " + text;
}

std::string next_as_text(std::span<const next_answer> answers, instant asked) {
  std::string out;
  for (const next_answer& a : answers) {
    out += heading(a) + '\n';
    const bool milliseconds = !whole_seconds(a.found);
    std::size_t widest = 0;
    for (const coming_fire& f : a.found.fires) widest = std::max(widest, distance_text(f.at - asked).size());
    for (const coming_fire& f : a.found.fires) {
      const std::string line = fmt::format("  {} {}  {}  {:<{}}  {}", weekday_name(f.at, a.item.zone),
                                           local_text(f.at, a.item.zone, ' ', milliseconds),
                                           instant_text(f.at, milliseconds ? fraction::milliseconds : fraction::none),
                                           distance_text(f.at - asked), widest, f.note);
      out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    if (!a.found.remark.empty()) out += "  " + a.found.remark + '\n';
  }
  return out;
}

std::string next_as_json(std::span<const next_answer> answers, instant asked) {
  using json = nlohmann::ordered_json;
  json list = json::array();
  for (const next_answer& a : answers) {
    json fires = json::array();
    for (const coming_fire& f : a.found.fires) {
      json fire = {{"at", instant_text(f.at, fraction::milliseconds)},
                   {"local", local_text(f.at, a.item.zone, 'T', true)},
                   {"in", static_cast<double>((f.at - asked).count()) / 1e6}};
      if (f.dst != schedule::dst_note::none) {
        fire["dst"] = dst_name(f.dst);
        fire["note"] = f.note;
      }
      fires.push_back(std::move(fire));
    }
    json warnings = json::array();
    for (const auto w : a.found.warnings) warnings.push_back(schedule::name_of(w));
    json entry = {{"job", a.item.name.empty() ? json() : json(a.item.name)},
                  {"trigger", a.found.trigger},
                  {"timezone", a.item.zone.name()},
                  {"fires", std::move(fires)}};
    if (!a.found.remark.empty()) entry["remark"] = a.found.remark;
    entry["warnings"] = std::move(warnings);
    list.push_back(std::move(entry));
  }
  return json{{"schema_version", 1}, {"next", std::move(list)}}.dump() + '\n';
}

}  // namespace looptask::cli
