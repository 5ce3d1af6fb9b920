#pragma once
// Addresses of sockets, and the port through which they are used: the part of `host` that a stream and a listener stand on.
//
// An endpoint is a value, any thread. A network_port belongs to its host and is used on that loop's thread. Its descriptors
// never block, are closed by exec, and raise no SIGPIPE. Its functions do not throw: they return the system's answer, and what
// failed as a negative errno, because only the caller knows whom it was talking to. EINTR is none of these: such a call is
// repeated.
//
//   const looptask::endpoint here = looptask::endpoint::parse("127.0.0.1:8080").value();
//   looptask::network_descriptor fd(port, port.open(here));
//   if (!fd) throw ...;
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <looptask/result.hpp>

namespace looptask {

// Where a socket is bound or connected to.
class endpoint {
 public:
  enum class kind : std::uint8_t { none, ip4, ip6, path, abstract_name };

  endpoint() noexcept = default;  // kind::none: of a pipe, of a Unix socket that has no name
  static endpoint ip4(const std::array<std::uint8_t, 4>& address, std::uint16_t port) noexcept;
  // `scope`: the number of the interface, for link-local addresses.
  static endpoint ip6(const std::array<std::uint8_t, 16>& address, std::uint16_t port, std::uint32_t scope = 0) noexcept;
  static endpoint loopback(std::uint16_t port) noexcept { return ip4({127, 0, 0, 1}, port); }  // port 0: one that is free
  // Unix sockets: of a file, and of Linux's name space of its own, where a name goes with its socket. Longer than 107 bytes:
  // ENAMETOOLONG when it is used.
  static endpoint path(std::string file) noexcept;
  static endpoint abstract_name(std::string name) noexcept;

  // "127.0.0.1:80", "[::1]:80", "[fe80::1%2]:80", "unix:/run/x.sock", "unix:@name". Numbers only: names of hosts are
  // resolve()'s.
  static result<endpoint> parse(std::string_view text);
  std::string text() const;  // as parse() takes it; "unnamed" for kind::none

  kind what() const noexcept { return kind_; }
  bool is_ip() const noexcept { return kind_ == kind::ip4 || kind_ == kind::ip6; }
  std::uint16_t port() const noexcept { return port_; }
  std::uint32_t scope() const noexcept { return scope_; }
  std::span<const std::uint8_t> address() const noexcept { return {address_.data(), kind_ == kind::ip4 ? 4U : 16U}; }
  const std::string& name() const noexcept { return name_; }  // the file, or the abstract name
  bool operator==(const endpoint&) const = default;

 private:
  std::array<std::uint8_t, 16> address_{};
  std::uint32_t scope_ = 0;
  std::uint16_t port_ = 0;
  kind kind_ = kind::none;
  std::string name_;
};

enum class socket_option : std::uint8_t {
  nodelay,        // TCP: small writes go out at once
  reuse_address,  // bind while old connections of that port linger
  reuse_port,     // several listeners share a port, also of several processes
  keepalive,      // ask a silent TCP peer now and then whether it is still there
  ip6_only,
  abort_on_close,  // close() resets the connection instead of ending it in good order
  send_buffer,     // bytes; the kernel doubles it
  receive_buffer,
};

// Tells one file from every other of the machine.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool operator==(const file_identity&) const = default;
};

class network_port {
 public:
  virtual int open(const endpoint& like) = 0;  // a stream socket of that kind
  // 0, or -EINPROGRESS: it goes on, and is over when the descriptor is ready for writing; then connect_result() tells how. A
  // Unix socket whose listener has no room is -EAGAIN, and nothing goes on.
  virtual int connect(int fd, const endpoint& to) = 0;
  virtual int connect_result(int fd) = 0;
  virtual int bind(int fd, const endpoint& to) = 0;
  virtual int listen(int fd, int backlog) = 0;
  virtual int accept(int fd, endpoint& peer) = 0;

  // Bytes moved; 0 from receive() is the end. -EAGAIN: not now. write() is for pipes, receive() for sockets and pipes.
  virtual std::ptrdiff_t receive(int fd, std::span<char> to) = 0;
  virtual std::ptrdiff_t send(int fd, std::string_view bytes) = 0;
  virtual std::ptrdiff_t write(int fd, std::string_view bytes) = 0;
  virtual int shutdown_write(int fd) = 0;

  virtual int pair(std::array<int, 2>& ends) = 0;  // Unix sockets that are connected to each other
  virtual int pipe(std::array<int, 2>& ends) = 0;  // the end that is read, the end that is written
  virtual int local(int fd, endpoint& is) = 0;
  virtual int set(int fd, socket_option which, int value) = 0;
  virtual void close(int fd) noexcept = 0;

  // The file of a Unix socket; nullopt if there is none of that name, or if it is something else.
  virtual std::optional<file_identity> socket_file(const std::string& path) = 0;
  virtual void remove_file(const std::string& path) noexcept = 0;

 protected:
  ~network_port() = default;
};

// A descriptor of a port with one owner; closed with it. Take it out of the reactor before.
class network_descriptor {
 public:
  network_descriptor() noexcept = default;
  network_descriptor(network_port& of, int fd) noexcept : of_(&of), fd_(fd) {}  // negative: none
  network_descriptor(network_descriptor&& other) noexcept : of_(other.of_), fd_(std::exchange(other.fd_, -1)) {}
  network_descriptor& operator=(network_descriptor&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~network_descriptor() {
    if (fd_ >= 0) of_->close(fd_);
  }

  explicit operator bool() const noexcept { return fd_ >= 0; }
  int get() const noexcept { return fd_; }
  network_port& port() const noexcept { return *of_; }

 private:
  network_port* of_ = nullptr;
  int fd_ = -1;
};

}  // namespace looptask
