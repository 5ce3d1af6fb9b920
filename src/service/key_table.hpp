#pragma once
// Every key that a configuration file may have: the one source of parser, checks, defaults, manual and help. Constant data.
//
// `place` is the table a key stands in: "" (top of the file), "service", "history", "job" (each [job.NAME]) or "job.retry". A
// key whose `stage` is above `current_stage` is known but refused.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace looptask::service {

enum class value_kind : std::uint8_t {
  boolean,
  integer,
  number,
  string,
  duration,
  size,
  choice,
  zone,
  cron,
  instant,
  argv,
  shell,
  signal,
  exit_codes,
  directory,
  patterns,     // list of variable names and globs
  environment,  // table of strings
  nested,       // table whose keys have rows of their own
  later         // of a later version: its form is not looked at
};

constexpr int current_stage = 1;

struct key_row {
  std::string_view place;
  std::string_view name;
  value_kind kind = value_kind::later;
  std::string_view default_value = {};  // as TOML; empty: none
  int stage = current_stage;
  bool in_defaults = false;          // may also stand in [defaults]
  std::int64_t minimum = 0;          // integer, number; duration in microseconds
  std::int64_t maximum = INT64_MAX;  // integer, number; duration in microseconds; size in bytes
  std::string_view choices = {};     // of a choice, with '|' between
  std::string_view later_choices = {};
  std::string_view help = {};  // half a line
};

std::span<const key_row> key_table() noexcept;

// nullptr if there is no such key.
const key_row* find_key(std::string_view place, std::string_view name) noexcept;

// "a|b|c" as its parts.
bool has_choice(std::string_view choices, std::string_view text) noexcept;
// "a, b or c" with each part in quotes.
std::string choices_in_words(std::string_view choices);

// What a value of this key looks like, for the manual: "duration", "\"end\" | \"start\"", ...
std::string type_in_words(const key_row& row);

// The reference table of docs/configuration.md, which a test compares with the file.
std::string key_table_as_markdown();

}  // namespace looptask::service
