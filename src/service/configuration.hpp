#pragma once
// What a configuration file says, checked and with all defaults filled in. Plain values; any thread.
//
// Reading finds all mistakes of a file at once, each with its place. Nothing of a file with a mistake is used.
//
//   auto loaded = service::load_configuration("jobs.toml", host);
//   for (const auto& p : loaded.errors) print(p.to_string());
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <looptask/host.hpp>
#include <looptask/time.hpp>

#include "ledger/sqlite_store.hpp"
#include "schedule/definition.hpp"
#include "schedule/zone.hpp"

namespace looptask::service {

// A program to run and how to treat it.
struct command_settings {
  std::vector<std::string> argv;  // of `shell`: /bin/sh -c TEXT
  int stop_signal = 0;
  microseconds kill_after{0};
  std::vector<int> success_codes;
  std::string workdir;                                   // absolute
  std::vector<std::pair<std::string, std::string>> env;  // values may hold ${...} templates
  std::vector<std::string> env_inherit;                  // names, or globs with * and ?
};

struct job_settings {
  schedule::job_definition definition;
  command_settings command;
  std::string description;
  schedule::zone zone = schedule::zone::utc();  // in which its times are shown; that of its cron expression
  bool zone_given = false;                      // by the job, [defaults] or [service]
};

struct configuration {
  std::string file;       // as the user named it
  std::string directory;  // absolute; where the file is
  schedule::zone zone = schedule::zone::utc();
  bool zone_given = false;
  int max_running = 0;
  microseconds shutdown_grace{0};
  ledger::durability durability = ledger::durability::full;
  std::int64_t output_limit = 0;   // bytes kept of the output of one attempt
  std::vector<job_settings> jobs;  // in the order of the file
};

// A mistake in a file, or (with a class) something in it that is likely not meant.
struct problem {
  std::string file;
  int line = 1, column = 1;  // column in characters
  std::string key;           // full path, empty if it is about the file as a whole
  std::string message;       // one line: what; what would be right
  std::string warning_class;

  // "file:line:col: key: message", for warnings with "warning: " before the key and " [class]" at the end.
  std::string to_string() const;
};

struct loaded_configuration {
  std::optional<configuration> value;  // absent if there are errors
  std::vector<problem> errors;         // in the order of the file
  std::vector<problem> warnings;
};

// The largest file that is read.
constexpr std::int64_t configuration_limit = 16 * 1024 * 1024;

// Reads `text`, which came from `file`; relative paths in it are meant from `directory`, which is absolute. A misspelt zone is
// told the nearest of `known_zones`; warnings about schedules are for the time from `now` on. Pure, but for the zone database.
loaded_configuration read_configuration(std::string_view text, const std::string& file, const std::string& directory,
                                        instant now = {}, std::span<const std::string> known_zones = {});

// Reads `file`, named as the user named it. A file that cannot be read is one error.
loaded_configuration load_configuration(const std::string& file, host& where);

// For names of jobs, pools, alerts and tags: a letter or digit, then up to 63 letters, digits, '.', '_' or '-'.
bool is_name(std::string_view text) noexcept;

}  // namespace looptask::service
