#pragma once
// A job that runs a program in a session of its own.
//
// A run ends when its main process has ended and its output is closed, or `output_drain` after its end if somebody still holds
// the output open; then whatever is left of its session is killed. It is a success only if we saw the main process exit with
// one of the codes that count as success and nothing of its session is left alive. stop() sends the stop signal to the process
// group (and CONT, so that a stopped one hears it), after `kill_after` KILL to the whole session. What KILL does not end (a
// process in a sleep that nothing interrupts, or of another user) keeps the attempt going: it is told as on_unkillable and
// killed again, from time to time, until it is gone.
//
// Owner: the loop's thread. The body and its attempts must go before the loop does.
//
//   auto body = make_command(loop, {.argv = {"backup", "--all"}, .workdir = "/srv", .success_codes = {0, 3}});
//   engine.add(definition, std::move(body));
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <looptask/loop.hpp>

#include "engine/job_body.hpp"
#include "jobs/template.hpp"

namespace looptask::jobs {

inline constexpr const char* default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// The environment of a command is made of, later ones winning: PATH, HOME, LANG; `inherited`; `env`; LOOPTASK_JOB, _RUN_ID,
// _NOMINAL (RFC 3339, milliseconds), _ATTEMPT.
struct command_options {
  std::vector<std::string> argv;  // a program and its arguments
  std::string workdir;            // absolute
  std::string home = "/";
  std::vector<std::string> inherited;  // "NAME=value"
  std::vector<std::pair<std::string, text_template>> env;
  template_sources sources;  // what the templates of `env` draw on
  int stop_signal = SIGTERM;
  microseconds kill_after = std::chrono::seconds(10);
  std::vector<int> success_codes = {0};
  std::size_t output_limit = 256 * 1024;  // bytes kept: half from the beginning, half from the end
  // How long after the end of the main process somebody else may hold the output open.
  microseconds output_drain = std::chrono::seconds(2);
};

std::unique_ptr<engine::job_body> make_command(loop& where, command_options options);

}  // namespace looptask::jobs
