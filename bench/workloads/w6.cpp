// W6, a TCP echo server on a free port of the loopback: prints "PORT n" and serves until it is ended. bench/peers/echo_client
// drives it.
//
// usage: w6
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include <looptask/listener.hpp>
#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>
#include <looptask/stream.hpp>
#include <looptask/task.hpp>

namespace looptask::bench {
namespace {

task<> echo(stream guest) {
  char bytes[4096];
  try {
    while (true) {
      const std::size_t size = co_await guest.read_some(bytes);
      if (size == 0) break;
      co_await guest.write_all(std::string_view(bytes, size));
    }
  } catch (const std::system_error&) {  // the guest is gone
  }
}

task<> serve(listener door) {
  loop& where = this_loop();
  while (true) {
    stream guest = co_await door.accept();
    spawn(where, echo(std::move(guest)));
  }
}

}  // namespace
}  // namespace looptask::bench

int main() {
  looptask::real_host host;
  looptask::loop loop(host);
  looptask::listener door = looptask::listen(loop, looptask::endpoint::loopback(0));
  std::printf("PORT %d\n", static_cast<int>(door.local().port()));
  std::fflush(stdout);
  loop.run(looptask::bench::serve(std::move(door)));
}
