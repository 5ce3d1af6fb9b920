// echo-server ADDRESS [GRACE-MS]: sends back each line it gets. ADDRESS as 127.0.0.1:0 or unix:/path; the one it listens on is
// printed. On SIGTERM it accepts nobody any more, lets connections go on for the grace (5,000 ms unless said), cuts off those
// that are left, and exits 0.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <looptask/looptask.hpp>

namespace {

using looptask::task;

task<> answer(looptask::stream guest) {
  looptask::reader in(guest);
  looptask::writer out(guest);
  while (true) {
    const std::optional<std::string> line = co_await in.read_line();
    if (!line) break;
    out.write(*line + "\n");
    co_await out.drain();
  }
  co_await out.close();
}

// One guest's trouble is its own.
task<> serve(looptask::stream guest) {
  const std::string who = guest.peer().text();
  try {
    co_await answer(std::move(guest));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", who.c_str(), error.what());
  }
}

task<> accept_all(looptask::listener& door, looptask::task_group& guests) {
  while (true) {
    looptask::stream guest = co_await door.accept();
    guests.start(serve(std::move(guest)));
  }
}

// Until `accepting` is cancelled; the door is closed then, and the guests stay.
task<> welcome(looptask::listener door, looptask::cancel_scope& accepting, looptask::task_group& guests) {
  co_await accepting.run(accept_all(door, guests));
}

task<> run(looptask::listener door, looptask::cancel_scope& accepting, looptask::cancel_scope& serving) {
  auto all = [&](looptask::task_group& guests) { return welcome(std::move(door), accepting, guests); };
  const bool in_time = co_await serving.run(looptask::with_task_group(std::move(all)));
  std::printf(in_time ? "all have left\n" : "the rest were cut off\n");
}

}  // namespace

int main(int argc, char** argv) {
  const auto at = looptask::endpoint::parse(argc > 1 ? argv[1] : "");
  if (!at || argc > 3) {
    std::fprintf(stderr, "usage: echo-server ADDRESS [GRACE-MS]\n%s\n", at ? "" : at.message().c_str());
    return 2;
  }
  const std::chrono::milliseconds grace(argc == 3 ? std::atol(argv[2]) : 5000);
  try {
    looptask::real_host host;
    looptask::loop loop(host);
    looptask::cancel_scope accepting(loop);
    looptask::cancel_scope serving(loop);
    host.signals().watch(SIGTERM, [&](int) {
      accepting.cancel();
      serving.cancel_after(grace);
    });
    looptask::listener door = looptask::listen(loop, at.value());
    std::printf("listening on %s\n", door.local().text().c_str());
    std::fflush(stdout);
    loop.run(run(std::move(door), accepting, serving));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "echo-server: %s\n", error.what());
    return 1;
  }
}
