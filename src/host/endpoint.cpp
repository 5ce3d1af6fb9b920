#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include <looptask/network.hpp>

#include "base/printable.hpp"

namespace looptask {

endpoint endpoint::ip4(const std::array<std::uint8_t, 4>& address, std::uint16_t port) noexcept {
  endpoint made;
  made.kind_ = kind::ip4;
  made.port_ = port;
  std::copy(address.begin(), address.end(), made.address_.begin());
  return made;
}

endpoint endpoint::ip6(const std::array<std::uint8_t, 16>& address, std::uint16_t port, std::uint32_t scope) noexcept {
  endpoint made;
  made.kind_ = kind::ip6;
  made.port_ = port;
  made.scope_ = scope;
  made.address_ = address;
  return made;
}

endpoint endpoint::path(std::string file) noexcept {
  endpoint made;
  made.kind_ = kind::path;
  made.name_ = std::move(file);
  return made;
}

endpoint endpoint::abstract_name(std::string name) noexcept {
  endpoint made;
  made.kind_ = kind::abstract_name;
  made.name_ = std::move(name);
  return made;
}

namespace {

template <class Number>
bool read_number(std::string_view text, Number& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

result<endpoint> endpoint::parse(std::string_view text) {
  constexpr std::string_view unix_prefix = "unix:";
  const auto refuse = [text](std::string_view why) {
    return error{in_quotes(text) + ": " + std::string(why) + "; write 127.0.0.1:80, [::1]:80, unix:/path or unix:@name"};
  };
  if (text.find('\0') != std::string_view::npos) return refuse("an address holds no NUL");
  if (text.starts_with(unix_prefix)) {
    const std::string name(text.substr(unix_prefix.size()));
    if (name.empty() || name == "@") return refuse("no name of a Unix socket");
    return name.front() == '@' ? abstract_name(name.substr(1)) : path(name);
  }
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  if (colon == std::string_view::npos || !read_number(text.substr(colon + 1), port)) return refuse("no port from 0 to 65535");
  std::string host(text.substr(0, colon));
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    std::uint32_t scope = 0;
    if (const std::size_t percent = host.find('%'); percent != std::string::npos) {
      if (!read_number(std::string_view(host).substr(percent + 1), scope)) return refuse("no number of an interface");
      host.resize(percent);
    }
    std::array<std::uint8_t, 16> address{};
    if (::inet_pton(AF_INET6, host.c_str(), address.data()) != 1) return refuse("no IPv6 address");
    return ip6(address, port, scope);
  }
  std::array<std::uint8_t, 4> address{};
  if (::inet_pton(AF_INET, host.c_str(), address.data()) != 1) return refuse("no IPv4 address");
  return ip4(address, port);
}

std::string endpoint::text() const {
  char numbers[INET6_ADDRSTRLEN];
  switch (kind_) {
    case kind::none:
      return "unnamed";
    case kind::ip4:
      ::inet_ntop(AF_INET, address_.data(), numbers, sizeof numbers);
      return std::string(numbers) + ":" + std::to_string(port_);
    case kind::ip6: {
      ::inet_ntop(AF_INET6, address_.data(), numbers, sizeof numbers);
      const std::string interface = scope_ == 0 ? "" : "%" + std::to_string(scope_);
      return "[" + std::string(numbers) + interface + "]:" + std::to_string(port_);
    }
    case kind::path:
      return "unix:" + name_;
    case kind::abstract_name:
      return "unix:@" + name_;
  }
  return {};
}

}  // namespace looptask
