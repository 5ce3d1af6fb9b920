#pragma once
// The exit codes of the command line, promised to scripts (docs/command-line.md).

namespace looptask::cli::exit_code {

constexpr int ok = 0;
constexpr int check_failed = 1;  // a check failed
constexpr int usage = 2;
constexpr int not_running = 3;  // there is no history yet, or no service to talk to
constexpr int not_found = 4;    // no such job or run
constexpr int refused = 5;      // for instance: another service holds the data directory
constexpr int bad_configuration = 78;
constexpr int internal = 125;  // LoopTask itself failed

}  // namespace looptask::cli::exit_code
