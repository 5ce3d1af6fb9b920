#include "kill9/side_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace looptask::tests {

std::vector<side_line> parse_side_log(const std::string& text) {
  std::vector<side_line> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    side_line one;
    std::string surplus;
    words >> one.job >> one.nominal >> one.attempt >> one.run_id >> one.word;
    if (one.word.empty() || words >> surplus) throw std::runtime_error("side log: not five words: " + line);
    out.push_back(std::move(one));
  }
  return out;
}

side_log::side_log(std::string path)
    : file_(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600)), changes_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (file_ < 0 || changes_ < 0 || ::inotify_add_watch(changes_, path.c_str(), IN_MODIFY) < 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
}

side_log::~side_log() {
  ::close(file_);
  ::close(changes_);
}

void side_log::read_more() {
  char buffer[16384];
  while (true) {
    const ssize_t n = ::read(file_, buffer, sizeof buffer);
    if (n < 0) throw std::system_error(errno, std::generic_category(), "side log");
    if (n == 0) break;
    rest_.append(buffer, static_cast<std::size_t>(n));
  }
  const std::size_t end = rest_.rfind('\n');
  if (end == std::string::npos) return;
  for (side_line& line : parse_side_log(rest_.substr(0, end + 1))) lines_.push_back(std::move(line));
  rest_.erase(0, end + 1);
}

bool side_log::wait_for_change(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
  if (left <= 0) return false;
  pollfd one{changes_, POLLIN, 0};
  if (::poll(&one, 1, static_cast<int>(left)) <= 0) return false;
  char events[4096];
  while (::read(changes_, events, sizeof events) > 0) {
  }
  return true;
}

}  // namespace looptask::tests
