#include "jobs/template.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "schedule/civil.hpp"
#include "schedule/instant_text.hpp"

namespace looptask::jobs {
namespace {

constexpr std::string_view opening = "${";
constexpr std::string_view format_letters = "YmdHMSyjeuFTzs%";
constexpr std::array<std::string_view, 6> names = {"env", "file", "job", "run_id", "attempt", "nominal"};
// Of later versions; `credential:NAME` too.
constexpr std::array<std::string_view, 5> later_names = {"credential", "interval_from", "interval_to", "last.nominal",
                                                         "parent.run_id"};

// No longer text fits into the environment of a program (Linux: MAX_ARG_STRLEN, with the name).
constexpr std::size_t longest_value = std::size_t{128} * 1024;

std::string read_value(const std::string& path, const template_sources& sources, file_port& files) {
  std::string text = files.read(path.starts_with('/') ? path : sources.folder + "/" + path, longest_value);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

std::string padded(std::int64_t value, int width, char fill = '0') {
  std::string digits = std::to_string(value);
  if (digits.size() < static_cast<std::size_t>(width)) digits.insert(0, static_cast<std::size_t>(width) - digits.size(), fill);
  return digits;
}

std::string offset_text(std::int64_t seconds) {
  const std::int64_t minutes = std::abs(seconds) / 60;
  return (seconds < 0 ? "-" : "+") + padded(minutes / 60, 2) + padded(minutes % 60, 2);
}

}  // namespace

std::optional<std::string_view> find_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& pair : environment)
    if (pair.size() > name.size() && pair[name.size()] == '=' && pair.starts_with(name))
      return std::string_view(pair).substr(name.size() + 1);
  return std::nullopt;
}

std::string format_instant(instant when, std::string_view format, const schedule::zone& zone) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
  const schedule::civil local = zone.to_civil(seconds);
  const std::int64_t day = schedule::days_of(local.year, local.month, local.day);
  const auto field = [&](char letter) -> std::string {
    switch (letter) {
      case 'Y':
        return padded(local.year, 4);
      case 'm':
        return padded(local.month, 2);
      case 'd':
        return padded(local.day, 2);
      case 'H':
        return padded(local.hour, 2);
      case 'M':
        return padded(local.minute, 2);
      case 'S':
        return padded(local.second, 2);
      case 'y':
        return padded((local.year % 100 + 100) % 100, 2);
      case 'j':
        return padded(day - schedule::days_of(local.year, 1, 1) + 1, 3);
      case 'e':
        return padded(local.day, 2, ' ');
      case 'u':
        return std::to_string((schedule::weekday_of(day) + 6) % 7 + 1);
      case 'F':
        return padded(local.year, 4) + "-" + padded(local.month, 2) + "-" + padded(local.day, 2);
      case 'T':
        return padded(local.hour, 2) + ":" + padded(local.minute, 2) + ":" + padded(local.second, 2);
      case 'z':
        return offset_text(schedule::wall_of(local) - seconds.time_since_epoch().count());
      case 's':
        return std::to_string(seconds.time_since_epoch().count());
      default:
        return "%";
    }
  };
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] == '%' && at + 1 < format.size())
      text += field(format[++at]);
    else
      text += format[at];
  }
  return text;
}

struct text_template::parser {
  using outcome = std::variant<part, template_error>;

  static outcome wrong(std::size_t column, std::string message) { return template_error{column, std::move(message)}; }

  // What stands between `${` and `}`; `column` is that of the `$`.
  static outcome parse(std::string_view inside, std::size_t column) {
    const std::size_t colon = inside.find(':');
    const bool has_argument = colon != std::string_view::npos;
    const std::string_view name = inside.substr(0, colon);
    const std::string_view argument = has_argument ? inside.substr(colon + 1) : std::string_view{};
    if (name == "env" || name == "file") {
      if (argument.empty())
        return wrong(column, std::string(opening) + std::string(name) + "} needs " +
                                 (name == "env" ? "a variable: ${env:NAME}" : "a file: ${file:PATH}"));
      if (name == "env" && argument.find('=') != std::string_view::npos)
        return wrong(column, "the name of a variable has no \"=\": " + in_quotes(argument));
      return part{name == "env" ? kind::variable : kind::file, std::string(argument)};
    }
    if (name == "nominal" && has_argument) return parse_format(argument, column + opening.size() + colon + 1);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      if (has_argument) return wrong(column, "${" + std::string(name) + "} takes nothing after a colon");
      const kind what = name == "job"       ? kind::job
                        : name == "run_id"  ? kind::run_id
                        : name == "attempt" ? kind::attempt
                                            : kind::nominal;
      return part{what, {}};
    }
    if (std::find(later_names.begin(), later_names.end(), name) != later_names.end())
      return wrong(column, "${" + std::string(inside) + "} is not in this version yet");
    std::string message = "unknown template " + in_quotes("${" + std::string(inside) + "}");
    if (const auto near = nearest_name(name, names)) message += "; did you mean ${" + std::string(*near) + "}?";
    return wrong(column, message + "; for the two characters \"${\" themselves write \"$${\"");
  }

  static outcome parse_format(std::string_view format, std::size_t column) {
    if (format.empty()) return wrong(column, "${nominal:} needs a format such as ${nominal:%F}");
    for (std::size_t at = 0; at < format.size(); ++at) {
      if (format[at] != '%') continue;
      if (at + 1 == format.size()) return wrong(column + at, "\"%\" at the end of a format; a percent sign is \"%%\"");
      if (format_letters.find(format[at + 1]) == std::string_view::npos)
        return wrong(column + at, "unknown format " + in_quotes(format.substr(at, 2)) +
                                      "; known are %Y %m %d %H %M %S %y %j %e %u %F %T %z %s %%");
      ++at;
    }
    return part{kind::nominal_format, std::string(format)};
  }
};

std::variant<text_template, template_error> text_template::parse(std::string_view text) {
  text_template made;
  std::string plain;
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return template_error{nul + 1, "a NUL cannot stand in a text for the environment"};
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("$${")) {
      plain += opening;
      at += 3;
      continue;
    }
    if (!text.substr(at).starts_with(opening)) {
      plain += text[at++];
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos)
      return template_error{at + 1, "\"${\" without a closing \"}\"; for the two characters themselves write \"$${\""};
    parser::outcome one = parser::parse(text.substr(at + opening.size(), end - at - opening.size()), at + 1);
    if (auto* const error = std::get_if<template_error>(&one)) return std::move(*error);
    if (!plain.empty()) made.parts_.push_back({kind::text, std::exchange(plain, {})});
    made.parts_.push_back(std::move(std::get<part>(one)));
    at = end + 1;
  }
  if (!plain.empty()) made.parts_.push_back({kind::text, std::move(plain)});
  return made;
}

text_template text_template::literal(std::string text) {
  text_template made;
  made.parts_.push_back({kind::text, std::move(text)});
  return made;
}

std::string text_template::expand(const part& one, const template_facts& facts, const template_sources& sources,
                                  file_port& files) {
  switch (one.what) {
    case kind::text:
      return one.argument;
    case kind::variable:
      if (const auto value = find_variable(sources.environment, one.argument)) return std::string(*value);
      throw std::runtime_error("${env:" + one.argument + "}: not set in the environment of the service");
    case kind::file:
      try {
        return read_value(one.argument, sources, files);
      } catch (const std::system_error& error) {
        throw std::runtime_error("${file:" + one.argument + "}: " + error.what());
      }
    case kind::job:
      return std::string(facts.job);
    case kind::run_id:
      return std::string(facts.run_id);
    case kind::attempt:
      return std::to_string(facts.attempt);
    case kind::nominal:
      return schedule::instant_text(facts.nominal, schedule::fraction::milliseconds);
    case kind::nominal_format:
      return format_instant(facts.nominal, one.argument, sources.zone);
  }
  return {};
}

std::string text_template::expand(const template_facts& facts, const template_sources& sources, file_port& files) const {
  std::string text;
  for (const part& one : parts_) {
    const std::string value = expand(one, facts, sources, files);
    if (value.find('\0') != std::string::npos)
      throw std::runtime_error("${file:" + one.argument + "}: holds a NUL, which cannot stand in an environment");
    text += value;
  }
  return text;
}

}  // namespace looptask::jobs
