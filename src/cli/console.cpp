#include "cli/console.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>

#include "base/printable.hpp"
#include "cli/exit_code.hpp"

namespace looptask::cli {
namespace {

constexpr std::size_t buffer_limit = 64 * 1024;

// 0, or the errno that ended the writing. A descriptor that somebody made non-blocking is waited for.
int write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// The number of a standard descriptor that is closed would be given to the next file that is opened, and what is said would be
// written into the lock or the history. /dev/null takes its place, opened so that the use of it still fails as if it were
// closed.
void occupy_closed_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) == fd) continue;
    if (::open("/", O_PATH) != fd) std::abort();  // a system without a root directory
  }
}

class process_console final : public console {
 public:
  // A write that fails has an error of its own to tell; neither must end the process. Without a bell (no descriptor is left)
  // hurry() is heard after the write that waits.
  process_console() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  ~process_console() override {
    const std::lock_guard hold(mutex_);
    drain();
    if (bell_ >= 0) ::close(bell_);
  }

  bool out(std::string_view bytes) override {
    const std::lock_guard hold(mutex_);
    if (failed_ != 0) return false;
    buffer_ += bytes;
    return buffer_.size() < buffer_limit || drain();
  }

  bool flush() override {
    const std::lock_guard hold(mutex_);
    return drain();
  }

  std::size_t err(std::string_view bytes) noexcept override {
    const std::lock_guard hold(mutex_);
    drain();
    return write_while_taken(bytes);
  }

  void hurry() noexcept override {
    hurried_ = true;
    const std::uint64_t one = 1;
    if (bell_ >= 0) [[maybe_unused]]
      const ssize_t rung = ::write(bell_, &one, sizeof one);
  }

  bool read_line(std::string& line) override {
    line.clear();
    while (true) {
      const auto end = input_.find('\n', input_at_);
      if (end != std::string::npos) {
        line.append(input_, input_at_, end - input_at_);
        input_at_ = end + 1;
        return true;
      }
      line.append(input_, input_at_);
      input_at_ = 0;
      input_.resize(buffer_limit);
      const ssize_t n = read_some();
      input_.resize(static_cast<std::size_t>(n));
      if (n == 0) return !line.empty();
    }
  }

  bool out_is_terminal() const noexcept override { return ::isatty(STDOUT_FILENO) == 1; }
  bool err_is_terminal() const noexcept override { return ::isatty(STDERR_FILENO) == 1; }

  int finish(int code) override {
    int error = 0;
    {
      const std::lock_guard hold(mutex_);
      drain();
      error = failed_;
    }
    if (error == 0 || error == EPIPE) return code;
    err(std::string("looptask: cannot write to stdout: ") + std::strerror(error) + "\n");
    return exit_code::internal;
  }

 private:
  bool drain() noexcept {
    if (failed_ == 0 && !buffer_.empty()) failed_ = write_all(STDOUT_FILENO, buffer_);
    buffer_.clear();
    return failed_ == 0;
  }

  // To stderr. A pipe that is ready takes PIPE_BUF bytes without blocking, so a reader that stalls is only ever waited for in
  // poll(), where the bell is heard.
  std::size_t write_while_taken(std::string_view bytes) noexcept {
    std::size_t taken = 0;
    while (taken < bytes.size()) {
      std::array<pollfd, 2> ready{{{STDERR_FILENO, POLLOUT, 0}, {hurried_ ? -1 : bell_, POLLIN, 0}}};
      const int n = ::poll(ready.data(), ready.size(), hurried_ ? 0 : -1);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      if (ready[0].revents == 0) continue;
      const ssize_t written =
          ::write(STDERR_FILENO, bytes.data() + taken, std::min<std::size_t>(bytes.size() - taken, PIPE_BUF));
      if (written >= 0) {
        taken += static_cast<std::size_t>(written);
      } else if (errno != EINTR && errno != EAGAIN) {
        break;  // there is no third place to complain
      }
    }
    return taken;
  }

  ssize_t read_some() {
    while (true) {
      const ssize_t n = ::read(STDIN_FILENO, input_.data(), input_.size());
      if (n >= 0) return n;
      if (errno == EAGAIN) {
        pollfd ready{STDIN_FILENO, POLLIN, 0};
        if (::poll(&ready, 1, -1) >= 0) continue;
      }
      if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "cannot read stdin");
    }
  }

  const int bell_;
  std::atomic<bool> hurried_ = false;
  std::mutex mutex_;
  std::string buffer_;
  int failed_ = 0;  // errno of the first failed write to stdout; nothing is written there after it
  std::string input_;
  std::size_t input_at_ = 0;
};

}  // namespace

void console::say(std::string_view line) { err(printable(line) + '\n'); }

std::unique_ptr<console> open_console() {
  occupy_closed_descriptors();
  return std::make_unique<process_console>();
}

}  // namespace looptask::cli
