#pragma once
// What /proc says about processes. Any thread. A process may be gone, and its pid somebody else's, by the time its entry is
// read: whoever acts on an entry opens a pidfd first and reads the entry again.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/time.hpp>

namespace looptask {

// A reading of the boot clock in the unit of start times.
std::uint64_t start_time_at(duration boot) noexcept;

struct process_entry {
  std::int32_t pid = 0;
  char state = '?';  // 'Z': the main thread has ended; others of the process may still run
  std::int32_t group = 0;
  std::int32_t session = 0;
  std::uint64_t start_time = 0;  // clock ticks after boot
  bool executed = false;         // false: still what its parent forked
  // It was started without, is ending, or is the kernel's. False also while it becomes another program: then its memory holds
  // none yet.
  bool without_environment = false;
};

// Parses the text of /proc/PID/stat. The name in it may hold any byte, ')' and line breaks too.
std::optional<process_entry> parse_stat(std::string_view text) noexcept;
// Does this errno say that the process is gone? Any other (no descriptor to be had, no memory) leaves it open.
bool says_gone(int error) noexcept;
// nullopt, with errno, if there is no such process or it cannot be read.
std::optional<process_entry> read_process(std::int32_t pid);
// Every process visible to us; nullopt, with errno, if /proc cannot be listed as a whole.
std::optional<std::vector<process_entry>> list_processes();
// The environment that the process was started with, each variable closed by a NUL; nothing in it once the process is dying.
// nullopt, with errno, if there is no such process or it cannot be read; EAGAIN while it becomes another program.
std::optional<std::string> read_environment(std::int32_t pid);
// Does such a text hold this "NAME=value", as a whole?
bool holds_variable(std::string_view environment, std::string_view pair) noexcept;

}  // namespace looptask
