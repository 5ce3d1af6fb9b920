#include <gtest/gtest.h>

#include <looptask/network.hpp>

#include "host/socket_address.hpp"

namespace looptask {
namespace {

TEST(Endpoint, IsPrintedAsItIsParsed) {
  for (const char* const text : {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:0", "[fe80::1%2]:443",
                                 "[2001:db8::ff]:8080", "unix:/run/looptask.sock", "unix:relative.sock", "unix:@abstract"}) {
    const result<endpoint> parsed = endpoint::parse(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.message();
    EXPECT_EQ(parsed.value().text(), text);
    EXPECT_EQ(endpoint::parse(parsed.value().text()).value(), parsed.value());
  }
}

TEST(Endpoint, OfAnUnfoldedAddressIsPrintedFolded) {
  EXPECT_EQ(endpoint::parse("[0:0:0:0:0:0:0:1]:080").value().text(), "[::1]:80");
}

TEST(Endpoint, RefusesWhatIsNone) {
  using namespace std::string_literals;
  for (const std::string& text : {""s, "127.0.0.1"s, ":80"s, "127.0.0.1:"s, "127.0.0.1:65536"s, "127.0.0.1:-1"s,
                                  "127.0.0.1:80 "s, "1.2.3:80"s, "localhost:80"s, "::1:80"s, "[::1]"s, "[::1%]:80"s,
                                  "[::1%eth0]:80"s, "[1.2.3.4]:80"s, "unix:"s, "unix:@"s, "unix:/a\0b"s, "[]:1"s, "[:1"s}) {
    const result<endpoint> parsed = endpoint::parse(text);
    EXPECT_FALSE(parsed) << text;
    if (parsed) continue;
    EXPECT_NE(parsed.message().find("; write 127.0.0.1:80"), std::string::npos) << parsed.message();
  }
}

TEST(Endpoint, ComesBackFromTheFormOfTheSystem) {
  for (const char* const text : {"127.0.0.1:80", "[fe80::1%2]:443", "unix:/run/looptask.sock", "unix:@abstract"}) {
    socket_address address;
    ASSERT_EQ(address.set(endpoint::parse(text).value()), 0);
    EXPECT_EQ(address.to_endpoint().text(), text);
  }
}

TEST(Endpoint, OfAUnixSocketHasRoomFor107Bytes) {
  socket_address address;
  for (const auto make : {endpoint::path, endpoint::abstract_name}) {
    EXPECT_EQ(address.set(make(std::string(107, 'x'))), 0);
    EXPECT_EQ(address.to_endpoint(), make(std::string(107, 'x')));
    EXPECT_EQ(address.set(make(std::string(108, 'x'))), ENAMETOOLONG);
  }
}

TEST(Endpoint, OfNobodyCannotBeUsed) {
  socket_address address;
  EXPECT_EQ(address.set({}), EAFNOSUPPORT);
  EXPECT_EQ(endpoint().text(), "unnamed");
}

}  // namespace
}  // namespace looptask
