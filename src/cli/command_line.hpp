#pragma once
// The command line as a whole: finds the verb, parses its options (CLI11 stays inside command_line.cpp), shows help, runs it.
// Main thread, once per process (tests: once per call).
#include <memory>
#include <string>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/host.hpp>

#include "cli/console.hpp"
#include "cli/places.hpp"

namespace looptask::cli {

// `arguments` without the program's name. Returns the exit code; what the verb throws is said on stderr and becomes 125. The
// host is opened only when a verb runs.
int run_command_line(std::vector<std::string> arguments, console& io, const environment& env,
                     unique_function<std::unique_ptr<host>()> open_host);

}  // namespace looptask::cli
