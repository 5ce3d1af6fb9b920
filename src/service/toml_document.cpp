#include "service/toml_document.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>
#include <tuple>

#include "base/utf8.hpp"
#include "service/toml_advice.hpp"

namespace looptask::service {
namespace {

position place_of(const toml::source_region& region) {
  return {std::max(1, static_cast<int>(region.begin.line)), std::max(1, static_cast<int>(region.begin.column))};
}

toml_node convert(const toml::node& from);

void convert_table(const toml::table& from, toml_node& to) {
  to.what = toml_node::kind::table;
  for (const auto& [key, value] : from) to.members.push_back({std::string(key.str()), place_of(key.source()), convert(value)});
  std::sort(to.members.begin(), to.members.end(),
            [](const toml_member& a, const toml_member& b) { return std::tie(a.at, a.name) < std::tie(b.at, b.name); });
}

toml_datetime convert_datetime(const toml::date_time& from) {
  toml_datetime to;
  to.when = {from.date.year, from.date.month, from.date.day, from.time.hour, from.time.minute, from.time.second};
  to.fraction = microseconds(from.time.nanosecond / 1000);
  if (from.offset) to.offset_minutes = from.offset->minutes;
  return to;
}

toml_node convert(const toml::node& from) {
  toml_node to;
  to.at = place_of(from.source());
  switch (from.type()) {
    case toml::node_type::table:
      convert_table(*from.as_table(), to);
      break;
    case toml::node_type::array:
      to.what = toml_node::kind::array;
      for (const auto& item : *from.as_array()) to.items.push_back(convert(item));
      break;
    case toml::node_type::string:
      to.what = toml_node::kind::string;
      to.text = from.as_string()->get();
      break;
    case toml::node_type::integer:
      to.what = toml_node::kind::integer;
      to.integer = from.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      to.what = toml_node::kind::number;
      to.number = from.as_floating_point()->get();
      break;
    case toml::node_type::boolean:
      to.what = toml_node::kind::boolean;
      to.boolean = from.as_boolean()->get();
      break;
    case toml::node_type::date_time:
      to.what = toml_node::kind::datetime;
      to.datetime = convert_datetime(from.as_date_time()->get());
      break;
    case toml::node_type::date:
      to.what = toml_node::kind::date;
      break;
    case toml::node_type::time:
      to.what = toml_node::kind::time;
      break;
    case toml::node_type::none:
      LOOPTASK_ASSERT(false, "a parsed TOML document has no empty node");
  }
  return to;
}

std::optional<toml_failure> check_encoding(std::string_view text) {
  if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF")
    return toml_failure{{1, 1}, "", "the file is UTF-16; save it as UTF-8"};
  position at;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t length = first_character(text).bytes;
    if (length == 0) {
      std::array<char, 8> hex{};
      std::snprintf(hex.data(), hex.size(), "0x%02X", static_cast<unsigned>(static_cast<unsigned char>(text[0])));
      return toml_failure{at, "", "byte " + std::string(hex.data()) + " is not UTF-8; save the file as UTF-8"};
    }
    at = text[0] == '\n' ? position{at.line + 1, 1} : position{at.line, at.column + 1};
    text.remove_prefix(length);
  }
  return std::nullopt;
}

// The library nests a table for each part of a dotted key and goes through them by recursion: a line of many thousands would
// use up the stack. No text that means anything has so many dots with nothing but letters, digits, quotes and blanks between.
std::optional<toml_failure> check_depth(std::string_view text) {
  constexpr int most_parts = 1000;
  position at;
  int dots = 0;
  for (const char c : text) {
    const bool of_a_key = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '"' || c == '\'' ||
                          c == ' ' || c == '\t' || c == '.';
    if (c == '.') ++dots;
    if (!of_a_key) dots = 0;
    if (dots > most_parts) return toml_failure{at, "", "not TOML: more than 1000 dots in a key; write a short one"};
    at = c == '\n' ? position{at.line + 1, 1} : position{at.line, at.column + 1};
  }
  return std::nullopt;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

toml_failure explain(std::string_view text, position at, const std::string& description) {
  // The library says: cannot redefine existing table 'job.a'.
  const auto twice = description.find("cannot redefine existing ");
  const auto name = description.find('\'', twice);
  if (twice != std::string::npos && name != std::string::npos) {
    const std::string key = description.substr(name + 1, description.find('\'', name + 1) - name - 1);
    const auto first = first_definition(text, at);
    return {at, key,
            "not TOML: it is defined twice" + (first ? ", first in line " + std::to_string(*first) : "") +
                "; give one of them another name, or keep one"};
  }
  const auto right = quotes_needed(text, at);
  return {at, "", "not TOML: " + description + (right ? "; a text value needs quotes, as in " + *right : "")};
}

}  // namespace

std::string_view describe(toml_node::kind what) noexcept {
  switch (what) {
    case toml_node::kind::table:
      return "a table";
    case toml_node::kind::array:
      return "a list";
    case toml_node::kind::string:
      return "a string";
    case toml_node::kind::integer:
      return "an integer";
    case toml_node::kind::number:
      return "a number with a fraction";
    case toml_node::kind::boolean:
      return "true or false";
    case toml_node::kind::datetime:
      return "a date with a time";
    case toml_node::kind::date:
      return "a date";
    case toml_node::kind::time:
      return "a time of day";
  }
  return "";
}

std::variant<toml_node, toml_failure> parse_toml(std::string_view text) {
  if (auto failure = check_encoding(text)) return *failure;
  if (auto failure = check_depth(text)) return *failure;
  try {
    const toml::table root = toml::parse(text);
    toml_node node;
    convert_table(root, node);
    return node;
  } catch (const toml::parse_error& e) {
    return explain(text, place_of(e.source()), one_line(e.description()));
  }
}

}  // namespace looptask::service
