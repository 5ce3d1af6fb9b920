#pragma once
// TCP on the loopback address, for the example programs: non-blocking sockets whose readiness is awaited. One loop's thread.
//
//   socket connection = socket::connect_to(8080);
//   co_await connection.ready(looptask::readiness::write);
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <looptask/operation.hpp>
#include <looptask/task.hpp>

namespace examples {

// Waits until a descriptor is ready. Withdrawn at once when it is cancelled.
class readiness_await final : public looptask::operation, private looptask::readiness_handler {
 public:
  readiness_await(int fd, looptask::readiness wanted) noexcept : fd_(fd), wanted_(wanted) {}
  ~readiness_await() {
    if (is_waiting()) where().unwatch(fd_);
  }
  bool await_ready() noexcept { return strikes_now(); }
  void await_resume() { finish(); }

 private:
  void start() override { where().watch(fd_, wanted_, *this); }
  bool withdraw() noexcept override {
    where().unwatch(fd_);
    return true;
  }
  void on_ready(looptask::readiness) override {
    where().unwatch(fd_);
    complete();
  }

  int fd_;
  looptask::readiness wanted_;
};

class socket {
 public:
  explicit socket(int fd) : fd_(fd) {
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "socket");
  }
  socket(socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  socket& operator=(socket&&) = delete;
  ~socket() {
    if (fd_ >= 0) ::close(fd_);
  }

  // On a port that the system chooses.
  static socket listen_on_loopback() {
    socket made(open());
    sockaddr_in address = loopback(0);
    made.check(::bind(made.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
    made.check(::listen(made.fd_, SOMAXCONN), "listen");
    return made;
  }
  static looptask::task<socket> connect_to(std::uint16_t port) {
    socket made(open());
    const sockaddr_in address = loopback(port);
    if (::connect(made.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)
      throw std::system_error(errno, std::generic_category(), "connect to 127.0.0.1:" + std::to_string(port));
    co_await made.ready(looptask::readiness::write);
    int error = 0;
    socklen_t size = sizeof error;
    made.check(::getsockopt(made.fd_, SOL_SOCKET, SO_ERROR, &error, &size), "getsockopt");
    if (error != 0) throw std::system_error(error, std::generic_category(), "connect to 127.0.0.1:" + std::to_string(port));
    co_return made;
  }

  std::uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    check(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    return ntohs(address.sin_port);
  }
  readiness_await ready(looptask::readiness wanted) const noexcept { return {fd_, wanted}; }

  looptask::task<socket> accept() const {
    while (true) {
      co_await ready(looptask::readiness::read);
      const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) co_return socket(fd);
      if (!would_block() && errno != ECONNABORTED) throw std::system_error(errno, std::generic_category(), "accept");
    }
  }
  // Some bytes, or none at the end of what the other side sends.
  looptask::task<std::string> read_some() const {
    while (true) {
      co_await ready(looptask::readiness::read);
      std::string bytes(4096, '\0');
      const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
      if (got < 0 && would_block()) continue;
      check(static_cast<int>(got), "recv");
      bytes.resize(static_cast<std::size_t>(got));
      co_return bytes;
    }
  }
  looptask::task<void> write_all(std::string bytes) const {
    for (std::size_t sent = 0; sent < bytes.size();) {
      co_await ready(looptask::readiness::write);
      const ssize_t took = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (took < 0 && would_block()) continue;
      check(static_cast<int>(took), "send");
      sent += static_cast<std::size_t>(took);
    }
  }

 private:
  static int open() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  static bool would_block() noexcept { return errno == EAGAIN || errno == EINTR; }
  static void check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  }

  int fd_;
};

}  // namespace examples
