#pragma once
// Values of keys on their way from the TOML tree to the configuration: checked one by one against the key table, not yet
// against each other. Plain values.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <looptask/time.hpp>

#include "schedule/cron.hpp"
#include "schedule/zone.hpp"
#include "service/key_table.hpp"
#include "service/problem_list.hpp"
#include "service/toml_document.hpp"

namespace looptask::service {

using string_pairs = std::vector<std::pair<std::string, std::string>>;

// Which alternative a key has follows from its value_kind: integer, size and signal are int64; choice, string, shell and
// directory are std::string; argv and patterns are lists of strings.
using setting_value =
    std::variant<bool, std::int64_t, double, std::string, microseconds, schedule::zone, schedule::cron_expression,
                 toml_datetime, std::vector<std::string>, std::vector<int>, string_pairs>;

struct setting {
  std::optional<setting_value> value;  // absent: it stands there, but is wrong (and said to be)
  position key_at, at;                 // of the name and of the value
  bool own = false;                    // stands in this very table, not in [defaults] or the key table
};

// By name below the table they belong to: "every", "retry.max".
using setting_map = std::map<std::string, setting, std::less<>>;

// What reading needs besides the text.
struct reading {
  problem_list& problems;
  std::span<const std::string> known_zones;  // to suggest one of; may be empty
};

// One value. What is wrong goes to the problems under `path`.
std::optional<setting_value> read_value(const key_row& row, const toml_node& node, const std::string& path, reading& on);

// All keys of one table. `place` is its row of the key table, `path` its full name in this file. With `in_defaults` it is
// [defaults], where only some keys of a job may stand. Values overwrite those already in `into`, environments are merged.
void read_table(std::string_view place, const toml_node& table, const std::string& path, bool in_defaults, reading& on,
                setting_map& into, const std::string& prefix = {});

// The defaults of the key table for one place.
setting_map default_settings(std::string_view place);

// "place.name" as it stands in messages; without a dot at the top.
std::string join_path(std::string_view path, std::string_view name);

}  // namespace looptask::service
