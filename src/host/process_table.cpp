#include "host/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "host/raw_descriptor.hpp"

namespace looptask {
namespace {

// Takes the next field of a space-separated line.
std::string_view next_field(std::string_view& rest) noexcept {
  const std::size_t begin = rest.find_first_not_of(' ');
  if (begin == std::string_view::npos) return rest = {};
  const std::size_t end = std::min(rest.find_first_of(" \n", begin), rest.size());
  const std::string_view field = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return field;
}

template <class Integer>
bool to_number(std::string_view text, Integer& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

raw_descriptor open_of(std::int32_t pid, const char* file) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
  return raw_descriptor::open(path.c_str());
}

// The names in a folder of which `take` says to go on; false, with errno, if it cannot be read or `take` says so.
template <class Take>
bool for_each_name(const char* path, Take take) {
  const raw_descriptor folder = raw_descriptor::open(path, O_DIRECTORY);
  if (!folder) return false;
  alignas(dirent64) std::array<char, 32 * 1024> items;
  while (true) {
    const long size = ::syscall(SYS_getdents64, folder.get(), items.data(), items.size());
    if (size <= 0) return size == 0;
    for (long at = 0; at < size;) {
      const char* const item = items.data() + at;
      std::uint16_t length = 0;
      std::memcpy(&length, item + offsetof(dirent64, d_reclen), sizeof length);
      if (!take(std::string_view(item + offsetof(dirent64, d_name)))) return false;
      at += length;
    }
  }
}

}  // namespace

std::uint64_t start_time_at(duration boot) noexcept {
  if (boot < duration(0)) return 0;  // before there was anything
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const auto whole = std::chrono::floor<std::chrono::seconds>(boot);
  const auto rest = static_cast<std::uint64_t>((boot - whole).count());
  return static_cast<std::uint64_t>(whole.count()) * per_second + rest * per_second / 1'000'000'000;
}

std::optional<process_entry> parse_stat(std::string_view text) noexcept {
  process_entry entry;
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  if (!to_number(text.substr(0, open), entry.pid)) return std::nullopt;
  std::string_view rest = text.substr(close + 2);
  const std::string_view state = next_field(rest);  // field 3
  if (state.size() != 1) return std::nullopt;
  entry.state = state.front();
  constexpr int group_field = 5;
  constexpr int session_field = 6;
  constexpr int flags_field = 9;
  constexpr int start_field = 22;
  constexpr int code_end_field = 27;
  constexpr int environment_field = 50;
  // Of the kernel's include/linux/sched.h: PF_EXITING, PF_FORKNOEXEC, PF_KTHREAD.
  constexpr std::uint32_t ending = 0x4;
  constexpr std::uint32_t forked_only = 0x40;
  constexpr std::uint32_t of_kernel = 0x200000;
  std::uint32_t flags = 0;
  for (int field = 4; field <= start_field; ++field) {
    const std::string_view value = next_field(rest);
    if (field == group_field && !to_number(value, entry.group)) return std::nullopt;
    if (field == session_field && !to_number(value, entry.session)) return std::nullopt;
    if (field == flags_field && !to_number(value, flags)) return std::nullopt;
    if (field == start_field && !to_number(value, entry.start_time)) return std::nullopt;
  }
  entry.executed = (flags & forked_only) == 0;
  for (int field = start_field + 1; field < code_end_field; ++field) next_field(rest);
  const bool laid_out = next_field(rest) != "0";  // the last that exec fills in
  for (int field = code_end_field + 1; field < environment_field; ++field) next_field(rest);
  const std::string_view begin = next_field(rest);
  const std::string_view end = next_field(rest);
  entry.without_environment = (flags & (ending | of_kernel)) != 0 || (laid_out && begin == end);
  return entry;
}

bool says_gone(int error) noexcept { return error == ESRCH || error == ENOENT; }

std::optional<process_entry> read_process(std::int32_t pid) {
  const raw_descriptor file = open_of(pid, "stat");
  if (!file) return std::nullopt;
  std::array<char, 2048> text;  // 52 numbers and a name of at most 64 bytes
  const long size = file.read(text.data(), text.size());
  if (size < 0) return std::nullopt;
  std::optional<process_entry> entry = parse_stat({text.data(), static_cast<std::size_t>(size)});
  if (!entry) errno = ESRCH;
  return entry;
}

std::optional<std::vector<process_entry>> list_processes() {
  std::vector<process_entry> all;
  const bool whole = for_each_name("/proc", [&](std::string_view name) {
    std::int32_t pid = 0;
    if (!to_number(name, pid)) return true;
    if (const std::optional<process_entry> entry = read_process(pid)) {
      all.push_back(*entry);
      return true;
    }
    // Hidden ones are nobody we could act on. With any other error the list is incomplete and would read as "nobody is left".
    return says_gone(errno) || errno == EACCES || errno == EPERM;
  });
  if (!whole) return std::nullopt;
  return all;
}

std::optional<std::string> read_environment(std::int32_t pid) {
  const raw_descriptor file = open_of(pid, "environ");
  if (!file) return std::nullopt;
  std::string environment;
  std::array<char, 16 * 1024> chunk;
  while (true) {
    const long size = file.read(chunk.data(), chunk.size());
    if (size < 0) return std::nullopt;
    if (size == 0) break;
    environment.append(chunk.data(), static_cast<std::size_t>(size));
  }
  if (!environment.empty()) return environment;
  const std::optional<process_entry> entry = read_process(pid);
  if (!entry) return std::nullopt;
  if (entry->without_environment) return environment;
  errno = EAGAIN;
  return std::nullopt;
}

bool holds_variable(std::string_view environment, std::string_view pair) noexcept {
  for (std::size_t at = environment.find(pair); at != std::string_view::npos; at = environment.find(pair, at + 1)) {
    const bool begins = at == 0 || environment[at - 1] == '\0';
    const std::size_t end = at + pair.size();
    if (begins && (end == environment.size() || environment[end] == '\0')) return true;
  }
  return false;
}

}  // namespace looptask
