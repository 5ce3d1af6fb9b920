#pragma once
// Sockets and pipes of Linux by plain system calls, none of which waits. Used on the loop's thread.
#include <looptask/network.hpp>

namespace looptask {

class system_network final : public network_port {
 public:
  ~system_network() = default;

  int open(const endpoint& like) override;
  int connect(int fd, const endpoint& to) override;
  int connect_result(int fd) override;
  int bind(int fd, const endpoint& to) override;
  int listen(int fd, int backlog) override;
  int accept(int fd, endpoint& peer) override;
  std::ptrdiff_t receive(int fd, std::span<char> to) override;
  std::ptrdiff_t send(int fd, std::string_view bytes) override;
  std::ptrdiff_t write(int fd, std::string_view bytes) override;
  int shutdown_write(int fd) override;
  int pair(std::array<int, 2>& ends) override;
  int pipe(std::array<int, 2>& ends) override;
  int local(int fd, endpoint& is) override;
  int set(int fd, socket_option which, int value) override;
  void close(int fd) noexcept override;
  std::optional<file_identity> socket_file(const std::string& path) override;
  void remove_file(const std::string& path) noexcept override;
};

}  // namespace looptask
