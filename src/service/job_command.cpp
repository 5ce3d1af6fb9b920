#include "service/job_command.hpp"

#include <fnmatch.h>

namespace looptask::service {
namespace {

jobs::text_template checked_template(const std::string& text) {
  auto parsed = jobs::text_template::parse(text);
  LOOPTASK_ASSERT(std::holds_alternative<jobs::text_template>(parsed), "templates are checked when the configuration is read");
  return std::get<jobs::text_template>(std::move(parsed));
}

}  // namespace

std::vector<std::string> inherited(const std::vector<std::string>& patterns, const std::vector<std::string>& environment) {
  std::vector<std::string> taken;
  for (const auto& entry : environment) {
    const std::string name = entry.substr(0, entry.find('='));
    for (const auto& pattern : patterns) {
      if (::fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
      taken.push_back(entry);
      break;
    }
  }
  return taken;
}

jobs::command_options command_of(const job_settings& job, const configuration& all,
                                 const std::vector<std::string>& environment) {
  const auto& from = job.command;
  jobs::command_options to;
  to.argv = from.argv;
  to.workdir = from.workdir;
  if (const auto home = jobs::find_variable(environment, "HOME"); home && !home->empty()) to.home = *home;
  to.inherited = inherited(from.env_inherit, environment);
  for (const auto& [name, value] : from.env) to.env.emplace_back(name, checked_template(value));
  if (!from.env.empty()) to.sources.environment = environment;
  to.sources.folder = all.directory;
  to.sources.zone = job.zone;
  to.stop_signal = from.stop_signal;
  to.kill_after = from.kill_after;
  to.success_codes = from.success_codes;
  to.output_limit = static_cast<std::size_t>(all.output_limit);
  return to;
}

}  // namespace looptask::service
