#pragma once
// An endpoint in the form the system knows, and back. Pure; any thread.
//
//   socket_address to;
//   if (const int error = to.set(where)) return -error;
//   ::connect(fd, to.get(), to.size);
#include <sys/socket.h>

#include <looptask/network.hpp>

namespace looptask {

struct socket_address {
  sockaddr_storage bytes{};
  socklen_t size = sizeof bytes;  // at first the room there is

  // errno, 0 for none: ENAMETOOLONG, or EAFNOSUPPORT for an endpoint of nobody.
  int set(const endpoint& from) noexcept;
  endpoint to_endpoint() const;  // kind::none for what we do not know
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&bytes); }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&bytes); }
};

}  // namespace looptask
