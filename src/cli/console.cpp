#include "cli/console.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <system_error>

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

class process_console final : public console {
 public:
  // A write that fails has an error of its own to tell; neither must end the process.
  process_console() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  ~process_console() override {
    const std::lock_guard hold(mutex_);
    drain();
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

  void err(std::string_view bytes) noexcept override {
    const std::lock_guard hold(mutex_);
    drain();
    static_cast<void>(write_all(STDERR_FILENO, bytes));  // there is no third place to complain
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

  std::mutex mutex_;
  std::string buffer_;
  int failed_ = 0;  // errno of the first failed write to stdout; nothing is written there after it
  std::string input_;
  std::size_t input_at_ = 0;
};

}  // namespace

std::unique_ptr<console> open_console() { return std::make_unique<process_console>(); }

}  // namespace looptask::cli
