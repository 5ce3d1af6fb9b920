#include "host/system_network.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "host/socket_address.hpp"

namespace looptask {
namespace {

// The answer of a call, or -errno; repeated after a signal.
template <class Call>
auto answer(Call call) noexcept {
  while (true) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return static_cast<decltype(result)>(-errno);
  }
}

// MSG_NOSIGNAL for what is no socket: SIGPIPE is blocked while it is written, and taken away if it came.
class without_sigpipe {
 public:
  without_sigpipe() noexcept {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    sigset_t pending;
    ::sigpending(&pending);
    pending_before_ = ::sigismember(&pending, SIGPIPE) == 1;
  }
  without_sigpipe(const without_sigpipe&) = delete;
  without_sigpipe& operator=(const without_sigpipe&) = delete;
  ~without_sigpipe() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  void broken() const noexcept {
    const timespec at_once{};
    if (!pending_before_) answer([&] { return ::sigtimedwait(&pipe_, nullptr, &at_once); });
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool pending_before_;
};

}  // namespace

int system_network::open(const endpoint& like) {
  socket_address address;
  if (const int error = address.set(like)) return -error;
  return answer([&] { return ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); });
}

int system_network::connect(int fd, const endpoint& to) {
  socket_address address;
  if (const int error = address.set(to)) return -error;
  if (::connect(fd, address.get(), address.size) == 0) return 0;
  return errno == EINTR ? -EINPROGRESS : -errno;  // after a signal it goes on all the same
}

int system_network::connect_result(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  const int asked = answer([&] { return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size); });
  return asked < 0 ? asked : -error;
}

int system_network::bind(int fd, const endpoint& to) {
  socket_address address;
  if (const int error = address.set(to)) return -error;
  return answer([&] { return ::bind(fd, address.get(), address.size); });
}

int system_network::listen(int fd, int backlog) {
  return answer([&] { return ::listen(fd, backlog); });
}

int system_network::accept(int fd, endpoint& peer) {
  socket_address address;
  const int accepted = answer([&] {
    address.size = sizeof address.bytes;
    return ::accept4(fd, address.get(), &address.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  });
  if (accepted >= 0) peer = address.to_endpoint();
  return accepted;
}

std::ptrdiff_t system_network::receive(int fd, std::span<char> to) {
  return answer([&] { return ::read(fd, to.data(), to.size()); });
}

std::ptrdiff_t system_network::send(int fd, std::string_view bytes) {
  return answer([&] { return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
}

std::ptrdiff_t system_network::write(int fd, std::string_view bytes) {
  const without_sigpipe quiet;
  const std::ptrdiff_t written = answer([&] { return ::write(fd, bytes.data(), bytes.size()); });
  if (written == -EPIPE) quiet.broken();
  return written;
}

int system_network::shutdown_write(int fd) {
  return answer([&] { return ::shutdown(fd, SHUT_WR); });
}

int system_network::pair(std::array<int, 2>& ends) {
  return answer([&] { return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()); });
}

int system_network::pipe(std::array<int, 2>& ends) {
  return answer([&] { return ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK); });
}

int system_network::local(int fd, endpoint& is) {
  socket_address address;
  const int asked = answer([&] { return ::getsockname(fd, address.get(), &address.size); });
  if (asked == 0) is = address.to_endpoint();
  return asked;
}

int system_network::set(int fd, socket_option which, int value) {
  const auto number = [&](int level, int name) {
    return answer([&] { return ::setsockopt(fd, level, name, &value, sizeof value); });
  };
  switch (which) {
    case socket_option::nodelay:
      return number(IPPROTO_TCP, TCP_NODELAY);
    case socket_option::reuse_address:
      return number(SOL_SOCKET, SO_REUSEADDR);
    case socket_option::reuse_port:
      return number(SOL_SOCKET, SO_REUSEPORT);
    case socket_option::keepalive:
      return number(SOL_SOCKET, SO_KEEPALIVE);
    case socket_option::ip6_only:
      return number(IPPROTO_IPV6, IPV6_V6ONLY);
    case socket_option::send_buffer:
      return number(SOL_SOCKET, SO_SNDBUF);
    case socket_option::receive_buffer:
      return number(SOL_SOCKET, SO_RCVBUF);
    case socket_option::abort_on_close: {
      const linger at_once{value, 0};
      return answer([&] { return ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once); });
    }
  }
  return -EINVAL;
}

void system_network::close(int fd) noexcept { ::close(fd); }

std::optional<file_identity> system_network::socket_file(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return std::nullopt;
  return file_identity{found.st_dev, found.st_ino};
}

void system_network::remove_file(const std::string& path) noexcept { ::unlink(path.c_str()); }

}  // namespace looptask
