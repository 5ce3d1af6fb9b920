#pragma once
// A TOML text as a tree of plain values, each with its place in the file. The TOML library stays in toml_document.cpp.
// Pure; any thread. Tables keep the order of the file. Lines and columns count from 1; a column counts characters, not bytes.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <looptask/time.hpp>

#include "schedule/zone.hpp"

namespace looptask::service {

struct position {
  int line = 1, column = 1;
  auto operator<=>(const position&) const = default;
};

struct toml_member;

// A date with a time. Without an offset it means the clock of some zone.
struct toml_datetime {
  schedule::civil when;
  microseconds fraction{0};
  std::optional<int> offset_minutes;  // east of Greenwich
};

struct toml_node {
  enum class kind : std::uint8_t { table, array, string, integer, number, boolean, datetime, date, time };
  kind what = kind::table;
  position at;
  std::string text;                  // string
  std::int64_t integer = 0;          // integer
  double number = 0;                 // number
  bool boolean = false;              // boolean
  toml_datetime datetime;            // datetime
  std::vector<toml_node> items;      // array
  std::vector<toml_member> members;  // table
};

struct toml_member {
  std::string name;
  position at;  // of the name
  toml_node value;
};

// "a string", "an integer", ... for messages.
std::string_view describe(toml_node::kind what) noexcept;

struct toml_failure {
  position at;
  std::string key;      // of a name given twice; else empty
  std::string message;  // one line: what; what would be right, if that is plain
};

// The root is a table. Stops at the first syntax error, name given twice, or byte that is not UTF-8.
std::variant<toml_node, toml_failure> parse_toml(std::string_view text);

}  // namespace looptask::service
