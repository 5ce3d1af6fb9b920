#include "host/socket_address.hpp"

#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace looptask {
namespace {

template <class Address>
void store(socket_address& to, const Address& address, std::size_t size = sizeof(Address)) noexcept {
  std::memcpy(&to.bytes, &address, sizeof address);
  to.size = static_cast<socklen_t>(size);
}

template <class Address>
Address load(const socket_address& from) noexcept {
  Address address{};
  std::memcpy(&address, &from.bytes, sizeof address);
  return address;
}

// A file's name ends with a NUL, an abstract one begins with it and ends with the size.
int store_name(socket_address& to, const std::string& name, bool abstract) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) return ENAMETOOLONG;
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  store(to, address, offsetof(sockaddr_un, sun_path) + name.size() + 1);
  return 0;
}

endpoint load_name(const socket_address& from) {
  const auto address = load<sockaddr_un>(from);
  const std::size_t size = from.size > offsetof(sockaddr_un, sun_path) ? from.size - offsetof(sockaddr_un, sun_path) : 0;
  if (size == 0) return {};
  if (address.sun_path[0] == '\0') return endpoint::abstract_name(std::string(address.sun_path + 1, size - 1));
  return endpoint::path(std::string(address.sun_path, ::strnlen(address.sun_path, std::min(size, sizeof address.sun_path))));
}

}  // namespace

int socket_address::set(const endpoint& from) noexcept {
  switch (from.what()) {
    case endpoint::kind::none:
      break;
    case endpoint::kind::ip4: {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(from.port());
      std::memcpy(&address.sin_addr, from.address().data(), sizeof address.sin_addr);
      store(*this, address);
      return 0;
    }
    case endpoint::kind::ip6: {
      sockaddr_in6 address{};
      address.sin6_family = AF_INET6;
      address.sin6_port = htons(from.port());
      address.sin6_scope_id = from.scope();
      std::memcpy(&address.sin6_addr, from.address().data(), sizeof address.sin6_addr);
      store(*this, address);
      return 0;
    }
    case endpoint::kind::path:
      return store_name(*this, from.name(), false);
    case endpoint::kind::abstract_name:
      return store_name(*this, from.name(), true);
  }
  return EAFNOSUPPORT;
}

endpoint socket_address::to_endpoint() const {
  if (size < sizeof(sa_family_t)) return {};
  if (bytes.ss_family == AF_UNIX) return load_name(*this);
  if (bytes.ss_family == AF_INET) {
    const auto address = load<sockaddr_in>(*this);
    std::array<std::uint8_t, 4> number{};
    std::memcpy(number.data(), &address.sin_addr, number.size());
    return endpoint::ip4(number, ntohs(address.sin_port));
  }
  if (bytes.ss_family == AF_INET6) {
    const auto address = load<sockaddr_in6>(*this);
    std::array<std::uint8_t, 16> number{};
    std::memcpy(number.data(), &address.sin6_addr, number.size());
    return endpoint::ip6(number, ntohs(address.sin6_port), address.sin6_scope_id);
  }
  return {};
}

}  // namespace looptask
