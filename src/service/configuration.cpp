#include "service/configuration.hpp"

#include <algorithm>
#include <system_error>

#include "schedule/cron_warnings.hpp"
#include "service/byte_size.hpp"
#include "service/installed_zones.hpp"
#include "service/job_reader.hpp"
#include "service/key_part.hpp"
#include "service/setting.hpp"

namespace looptask::service {
namespace {

// The table of this name at the top of the file, if it is there and is one.
const toml_node* find_section(const toml_node& root, std::string_view name, reading& on) {
  for (const auto& member : root.members) {
    if (member.name != name) continue;
    if (member.value.what == toml_node::kind::table) return &member.value;
    on.problems.error(member.value.at, std::string(name),
                      "is " + std::string(describe(member.value.what)) + "; write " +
                          (name == "job" ? "one table [job.NAME] for each job" : "a table [" + std::string(name) + "]"));
  }
  return nullptr;
}

setting_map read_section(const toml_node& root, std::string_view name, reading& on) {
  setting_map settings = default_settings(name);
  if (const auto* section = find_section(root, name, on)) read_table(name, *section, std::string(name), false, on, settings);
  return settings;
}

template <class T>
T value_or_empty(const setting_map& settings, std::string_view name) {
  const auto i = settings.find(name);
  return i == settings.end() || !i->second.value ? T() : std::get<T>(*i->second.value);
}

void read_service(const toml_node& root, reading& on, configuration& into) {
  const auto settings = read_section(root, "service", on);
  const auto zone = settings.find("timezone");
  if (zone->second.value) into.zone = std::get<schedule::zone>(*zone->second.value);
  into.zone_given = zone->second.own;
  into.max_running = static_cast<int>(value_or_empty<std::int64_t>(settings, "max_running"));
  into.shutdown_grace = value_or_empty<microseconds>(settings, "shutdown_grace");
}

void read_history(const toml_node& root, reading& on, configuration& into) {
  const auto settings = read_section(root, "history", on);
  into.durability =
      value_or_empty<std::string>(settings, "durability") == "process" ? ledger::durability::process : ledger::durability::full;
  into.output_limit = value_or_empty<std::int64_t>(settings, "output_limit");
}

// A schedule that may not be what was meant.
void warn_about_cron(const setting_map& settings, const job_settings& job, const std::string& path, instant now, reading& on) {
  const auto* trigger = std::get_if<schedule::cron_trigger>(&job.definition.trigger);
  if (trigger == nullptr) return;
  for (const auto w : schedule::warnings_of(trigger->expression, trigger->where, now))
    on.problems.warning(settings.find("cron")->second.at, join_path(path, "cron"), std::string(schedule::explanation_of(w)),
                        std::string(schedule::name_of(w)));
}

void warn_about_at(const setting_map& settings, const job_settings& job, const std::string& path, instant now, reading& on) {
  const auto* trigger = std::get_if<schedule::at_trigger>(&job.definition.trigger);
  if (trigger == nullptr || trigger->when >= now) return;
  on.problems.warning(settings.find("at")->second.at, join_path(path, "at"),
                      "lies in the past; a job that is first seen after its time never runs", "past");
}

void read_jobs(const toml_node& root, reading& on, instant now, configuration& into) {
  setting_map defaults = default_settings("job");
  if (const auto* section = find_section(root, "defaults", on)) read_table("job", *section, "defaults", true, on, defaults);
  for (auto& [name, value] : defaults) value.own = false;

  const auto* jobs = find_section(root, "job", on);
  if (jobs == nullptr) return;
  const job_surroundings around{into.directory, into.zone, into.zone_given};
  for (const auto& [name, at, node] : jobs->members) {
    const std::string path = join_path("job", name);
    if (!is_name(name)) {
      on.problems.error(at, path,
                        "no name for a job; write 1 to 64 letters, digits, '.', '_' or '-', the first a letter or digit");
    }
    if (node.what != toml_node::kind::table) {
      on.problems.error(node.at, path, "is " + std::string(describe(node.what)) + "; write a table [" + path + "]");
      continue;
    }
    setting_map settings = defaults;
    read_table("job", node, path, false, on, settings);
    into.jobs.push_back(read_job(name, at, settings, around, on.problems));
    warn_about_cron(settings, into.jobs.back(), path, now, on);
    warn_about_at(settings, into.jobs.back(), path, now, on);
    if (!into.jobs.back().definition.timeout && !settings.contains("timeout"))
      on.problems.warning(at, path,
                          "has no timeout, so a run that hangs holds its place for ever; write for example timeout = \"5m\"",
                          "no-timeout");
  }
}

}  // namespace

std::string problem::to_string() const {
  std::string text = file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
  if (!warning_class.empty()) text += "warning: ";
  if (!key.empty()) text += key + ": ";
  text += message;
  if (!warning_class.empty()) text += " [" + warning_class + "]";
  return text;
}

bool is_name(std::string_view text) noexcept {
  const auto letter_or_digit = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > 64 || !letter_or_digit(text[0])) return false;
  for (const char c : text)
    if (!letter_or_digit(c) && c != '.' && c != '_' && c != '-') return false;
  return true;
}

loaded_configuration read_configuration(std::string_view text, const std::string& file, const std::string& directory,
                                        instant now, std::span<const std::string> known_zones) {
  const auto utc = schedule::zone::utc();  // its table is made once as long as somebody holds it
  problem_list problems(file);
  reading on{problems, known_zones};
  loaded_configuration loaded;
  const auto parsed = parse_toml(text);
  if (const auto* failure = std::get_if<toml_failure>(&parsed)) {
    problems.error(failure->at, failure->key, failure->message);
    loaded.errors = problems.take_errors();
    return loaded;
  }
  const auto& root = std::get<toml_node>(parsed);
  configuration value;
  value.file = file;
  value.directory = directory;
  setting_map top;
  read_table("", root, "", false, on, top);
  read_service(root, on, value);
  read_history(root, on, value);
  read_jobs(root, on, now, value);
  if (value.jobs.empty() && problems.ok())
    problems.warning({1, 1}, "", "no job is defined; write a table [job.NAME] with run and every, cron or at", "no-jobs");
  if (problems.ok()) loaded.value = std::move(value);
  loaded.errors = problems.take_errors();
  loaded.warnings = problems.take_warnings();
  return loaded;
}

loaded_configuration load_configuration(const std::string& file, host& where) {
  file_port& files = where.files();
  const instant now = where.clock().wall();
  const auto refuse = [&](const std::string& message) {
    problem_list problems(file);
    problems.error({1, 1}, "", message);
    return loaded_configuration{std::nullopt, problems.take_errors(), {}};
  };
  std::string text, directory;
  try {
    const std::string path = files.absolute(file);
    directory = path.substr(0, std::max<std::size_t>(1, path.rfind('/')));
    text = files.read(path, static_cast<std::size_t>(configuration_limit));
  } catch (const std::system_error& e) {
    if (e.code() == std::errc::file_too_large)
      return refuse("is larger than " + print_size(configuration_limit) + "; is it a configuration file?");
    if (e.code() == std::errc::invalid_argument)
      return refuse("is not a regular file (a pipe or a device is not read); write the configuration into a file");
    return refuse("cannot read it: " + e.code().message() +
                  (e.code() == std::errc::is_a_directory ? "; name the file in it" : "; check the path and its permissions"));
  }
  loaded_configuration loaded = read_configuration(text, file, directory, now);
  if (loaded.errors.empty()) return loaded;
  // Something is wrong, so the names of zones may be of use.
  return read_configuration(text, file, directory, now, installed_zones(files));
}

}  // namespace looptask::service
