#include <string>
#include <vector>

#include <looptask/real_host.hpp>

#include "cli/command_line.hpp"

int main(int argc, char** argv) {
  const auto io = looptask::cli::open_console();
  const int code = looptask::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc), *io,
                                                   looptask::cli::process_environment(), [] {
                                                     looptask::real_host::raise_descriptor_limit();
                                                     return std::make_unique<looptask::real_host>();
                                                   });
  return io->finish(code);
}
