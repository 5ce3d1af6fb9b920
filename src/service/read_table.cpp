#include <array>
#include <variant>

#include "base/nearest_name.hpp"
#include "service/key_part.hpp"
#include "service/setting.hpp"

namespace looptask::service {
namespace {

// Keys of jobs under the names that they have elsewhere.
struct foreign_name {
  std::string_view name, advice;
};
constexpr std::string_view write_every = "write every, as in every = \"5m\"";
constexpr std::string_view write_cron = "write cron, as in cron = \"0 3 * * *\", or every";
constexpr std::string_view write_zone = "write timezone, as in timezone = \"Europe/Berlin\"";
constexpr std::string_view write_run = "write run, as in run = [\"date\", \"-u\"], or shell";
constexpr std::string_view write_overlap = "a job runs once at a time; overlap says what happens to the slots meanwhile";
constexpr std::string_view write_retry = "write retry, as in retry = { max = 3 }";
constexpr std::string_view write_workdir = "write workdir, as in workdir = \"/srv/report\"";
constexpr auto foreign_names = std::to_array<foreign_name>({{"interval", write_every},
                                                            {"period", write_every},
                                                            {"frequency", write_every},
                                                            {"schedule", write_cron},
                                                            {"crontab", write_cron},
                                                            {"tz", write_zone},
                                                            {"zone", write_zone},
                                                            {"command", write_run},
                                                            {"cmd", write_run},
                                                            {"exec", write_run},
                                                            {"script", write_run},
                                                            {"concurrency", write_overlap},
                                                            {"concurrencyPolicy", write_overlap},
                                                            {"allow_overlap", write_overlap},
                                                            {"retries", write_retry},
                                                            {"max_retries", write_retry},
                                                            {"cwd", write_workdir},
                                                            {"working_directory", write_workdir},
                                                            {"directory", write_workdir}});

std::string standing_place(std::string_view place) {
  if (place.empty()) return "at the top of the file";
  if (place == "job") return "in [job.NAME]";
  if (place == "job.retry") return "in retry";
  return "in [" + std::string(place) + "]";
}

// What would be right instead of a name that is not known here.
std::string suggest(std::string_view place, std::string_view name, bool in_defaults) {
  if (place == "job") {
    for (const auto& foreign : foreign_names)
      if (foreign.name == name) return std::string(foreign.advice);
  }
  std::vector<std::string_view> here;
  for (const auto& row : key_table())
    if (row.place == place && (!in_defaults || row.in_defaults)) here.push_back(row.name);
  if (const auto near = nearest_name(name, here)) return "did you mean " + key_part(*near) + "?";
  for (const auto& row : key_table())
    if (row.name == name && row.place != place)
      return "it stands " + standing_place(row.place) + (row.stage > current_stage ? ", and is not in this version yet" : "");
  std::string all;
  for (const auto& row : key_table()) {
    if (row.place != place || row.stage > current_stage || (in_defaults && !row.in_defaults)) continue;
    all += (all.empty() ? "" : ", ") + std::string(row.name);
  }
  return "known here are " + all;
}

// The environment of `add` over that of `below`.
setting_value merged(const setting& below, setting_value add) {
  if (!below.value || !std::holds_alternative<string_pairs>(*below.value)) return add;
  string_pairs all = std::get<string_pairs>(*below.value);
  for (auto& [name, value] : std::get<string_pairs>(add)) {
    bool found = false;
    for (auto& [old_name, old_value] : all) {
      if (old_name != name) continue;
      old_value = value;
      found = true;
    }
    if (!found) all.emplace_back(name, value);
  }
  return all;
}

}  // namespace

std::string join_path(std::string_view path, std::string_view name) {
  return path.empty() ? key_part(name) : std::string(path) + "." + key_part(name);
}

void read_table(std::string_view place, const toml_node& table, const std::string& path, bool in_defaults, reading& on,
                setting_map& into, const std::string& prefix) {
  for (const auto& [name, key_at, node] : table.members) {
    const std::string full = join_path(path, name);
    const key_row* row = find_key(place, name);
    if (row == nullptr) {
      on.problems.error(key_at, full, "unknown key; " + suggest(place, name, in_defaults));
    } else if (in_defaults && !row->in_defaults) {
      on.problems.error(key_at, full, "cannot stand in [defaults]; write it into the jobs it is meant for");
    } else if (row->stage > current_stage) {
      on.problems.error(key_at, full, "not in this version yet; remove it");
    } else if (row->kind == value_kind::nested) {
      if (place.empty()) continue;  // the tables of the file are read one by one
      if (node.what == toml_node::kind::table)
        read_table(std::string(place) + "." + name, node, full, in_defaults, on, into, prefix + name + ".");
      else
        on.problems.error(node.at, full, "is " + std::string(describe(node.what)) + "; write a table, as in { max = 3 }");
      continue;
    }
    setting& slot = into[prefix + name];
    slot.key_at = key_at;
    slot.at = node.at;
    slot.own = true;
    const bool may_stand = row != nullptr && row->stage <= current_stage && (!in_defaults || row->in_defaults);
    auto value = may_stand ? read_value(*row, node, full, on) : std::nullopt;
    if (value && row->kind == value_kind::environment) value = merged(slot, std::move(*value));
    slot.value = std::move(value);
  }
}

setting_map default_settings(std::string_view place) {
  setting_map settings;
  const auto add = [&](const key_row& row, const std::string& name) {
    auto parsed = parse_toml("x = " + std::string(row.default_value));
    const auto* root = std::get_if<toml_node>(&parsed);
    LOOPTASK_ASSERT(root != nullptr, "a default of the key table is no TOML");
    problem_list problems("");
    reading on{problems, {}};
    setting slot;
    slot.value = read_value(row, root->members.front().value, name, on);
    LOOPTASK_ASSERT(problems.ok() && slot.value, "a default of the key table is refused by its own row");
    settings.insert_or_assign(name, std::move(slot));
  };
  for (const auto& row : key_table()) {
    if (row.stage > current_stage || row.kind == value_kind::nested) continue;
    if (row.default_value.empty()) continue;
    if (row.place == place) add(row, std::string(row.name));
    if (row.place.substr(0, place.size() + 1) == std::string(place) + ".")
      add(row, std::string(row.place.substr(place.size() + 1)) + "." + std::string(row.name));
  }
  return settings;
}

}  // namespace looptask::service
