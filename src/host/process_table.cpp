#include "host/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "host/descriptor.hpp"
#include "host/system_call.hpp"

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

descriptor open_of(std::int32_t pid, const char* file) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
  return descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

struct close_folder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

std::uint64_t start_time_at(duration boot) noexcept {
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
  constexpr int session_field = 6;
  constexpr int start_field = 22;
  for (int field = 4; field <= start_field; ++field) {
    const std::string_view value = next_field(rest);
    if (field == session_field && !to_number(value, entry.session)) return std::nullopt;
    if (field == start_field && !to_number(value, entry.start_time)) return std::nullopt;
  }
  return entry;
}

std::optional<process_entry> read_process(std::int32_t pid) {
  const descriptor file = open_of(pid, "stat");
  if (!file) return std::nullopt;
  std::array<char, 2048> text;  // 52 numbers and a name of at most 64 bytes
  const ssize_t size = read_some(file.get(), text.data(), text.size());
  if (size < 0) return std::nullopt;
  std::optional<process_entry> entry = parse_stat({text.data(), static_cast<std::size_t>(size)});
  if (!entry) errno = ESRCH;
  return entry;
}

std::optional<std::vector<process_entry>> list_processes() {
  const std::unique_ptr<DIR, close_folder> folder(::opendir("/proc"));
  if (!folder) return std::nullopt;
  std::vector<process_entry> all;
  while (true) {
    errno = 0;
    const dirent* const item = ::readdir(folder.get());  // NOLINT(concurrency-mt-unsafe): this DIR is ours alone
    if (item == nullptr) break;
    std::int32_t pid = 0;
    if (!to_number(std::string_view(item->d_name), pid)) continue;
    if (const std::optional<process_entry> entry = read_process(pid)) {
      all.push_back(*entry);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      return std::nullopt;  // an incomplete list would read as "nobody is left"
    }
  }
  if (errno != 0) return std::nullopt;
  return all;
}

std::string read_environment(std::int32_t pid) {
  std::string environment;
  const descriptor file = open_of(pid, "environ");
  if (!file) return environment;
  std::array<char, 16 * 1024> chunk;
  while (true) {
    const ssize_t size = read_some(file.get(), chunk.data(), chunk.size());
    if (size <= 0) return environment;
    environment.append(chunk.data(), static_cast<std::size_t>(size));
  }
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
