#pragma once
// The body of a job as the configuration describes it. Pure.
#include <string>
#include <vector>

#include "jobs/command.hpp"
#include "service/configuration.hpp"

namespace looptask::service {

// `environment` is the service's own ("NAME=value"): what env_inherit copies from and ${env:} reads.
jobs::command_options command_of(const job_settings& job, const configuration& all,
                                 const std::vector<std::string>& environment);

// The entries of `environment` whose name fits one of `patterns`: names, or globs with * and ?.
std::vector<std::string> inherited(const std::vector<std::string>& patterns, const std::vector<std::string>& environment);

}  // namespace looptask::service
