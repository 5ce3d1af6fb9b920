#pragma once
// The environment of one attempt of a command, made from scratch. Pure but for the files and variables that templates name.
//
//   spec.env = make_environment(options, context, host.files());  // {"PATH=/usr/local/sbin:...", ..., "LOOPTASK_ATTEMPT=1"}
#include <string>
#include <vector>

#include <looptask/host.hpp>

#include "engine/job_body.hpp"
#include "jobs/command.hpp"

namespace looptask::jobs {

// "NAME=value", each name once. Throws std::runtime_error that names the variable if a template cannot be filled in.
std::vector<std::string> make_environment(const command_options& options, const engine::attempt_context& context,
                                          file_port& files);

}  // namespace looptask::jobs
