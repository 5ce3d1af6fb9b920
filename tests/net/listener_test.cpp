#include <looptask/listener.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "net/network.hpp"
#include "process/scratch.hpp"

namespace looptask {
namespace {

struct Listener : on_the_network {
  const scratch folder;
};

TEST_F(Listener, AcceptsWhoConnectsAndKnowsBothAddresses) {
  listener door = listen(loop, endpoint::loopback(0));
  EXPECT_NE(door.local().port(), 0);
  run([&]() -> task<> {
    stream client = co_await connect(door.local());
    stream server = co_await door.accept();
    LT_REQUIRE(client.peer() == door.local());
    LT_REQUIRE(server.local() == door.local());
    LT_REQUIRE(server.peer() == client.local());
  });
  EXPECT_EQ(door.statistics().accepted, 1U);
}

TEST_F(Listener, ServesEveryKindOfAddress) {
  for (const endpoint& at :
       {endpoint::loopback(0), endpoint::parse("[::1]:0").value(), endpoint::path(folder.path("door.sock")),
        endpoint::abstract_name("looptask-test-" + std::to_string(::getpid()))}) {
    listener door = listen(loop, at);
    run([&]() -> task<> {
      stream client = co_await connect(door.local());
      stream server = co_await door.accept();
      co_await client.write_all("hello");
      client.shutdown_write();
      const std::string got = co_await read_all(server);
      LT_REQUIRE(got == "hello");
    });
  }
}

TEST_F(Listener, AcceptWaitsForAClient) {
  listener door = listen(loop, endpoint::loopback(0));
  int accepted = 0;
  auto accepts = [](listener& at, int& count) -> task<> {
    while (count < 3) {
      const stream guest = co_await at.accept();
      ++count;
    }
  };
  spawn(loop, accepts(door, accepted));
  take_turns();
  EXPECT_EQ(accepted, 0);
  for (int i = 1; i <= 3; ++i) {
    run([&]() -> task<> { const stream client = co_await connect(door.local()); });
    while (accepted < i) loop.run_once();
  }
}

TEST_F(Listener, CancelledBeforeAndWhileItWaits) {
  listener door = listen(loop, endpoint::loopback(0));
  auto accepts = [](listener& at) -> task<> { co_await at.accept(); };
  EXPECT_FALSE(run([&]() -> task<bool> { co_return co_await move_on_after(milliseconds(1), accepts(door)); }));
  run([&]() -> task<> {
    const stream client = co_await connect(door.local());
    cancel_scope scope(loop);
    scope.cancel();
    LT_REQUIRE(!co_await scope.run(accepts(door)));
    const stream guest = co_await door.accept();  // left for whoever comes next
    LT_REQUIRE(guest.peer() == client.local());
  });
}

TEST_F(Listener, AConnectionThatCameBeforeTheCancellationIsDelivered) {
  listener door = listen(loop, endpoint::loopback(0));
  int delivered = 0;
  bool over = false;
  cancel_scope scope(loop);
  auto accepts = [](listener& at, int& count) -> task<> {
    while (true) {
      const stream guest = co_await at.accept();
      ++count;
    }
  };
  spawn(loop, scope, accepts(door, delivered), [&](const outcome<>&) { over = true; });
  take_turns();
  std::optional<stream> client;
  run([&]() -> task<> { client = co_await connect(door.local()); });
  loop.call_at(loop.now(), [&] { scope.cancel(); });
  while (!over) loop.run_once();
  EXPECT_EQ(delivered, 1);
}

TEST_F(Listener, AConnectionForATaskThatIsDestroyedIsClosed) {
  auto accepts = [](listener at) -> task<> { co_await at.accept(); };
  listener door = listen(loop, endpoint::loopback(0));
  const endpoint at = door.local();
  spawn(loop, accepts(std::move(door)));
  take_turns();
  bool connected_once = false;
  auto connects = [](endpoint to, bool& done) -> task<> {
    const stream client = co_await connect(to);
    done = true;
    co_await sleep_for(seconds(100));
  };
  spawn(loop, connects(at, connected_once));
  while (!connected_once) loop.run_once();
  owned.reset();
}

TEST_F(Listener, AnAddressInUseIsSaid) {
  const listener door = listen(loop, endpoint::loopback(0));
  EXPECT_EQ(complaint([&] { listen(loop, door.local()); }), "listen on " + door.local().text() + ": Address already in use");
}

TEST_F(Listener, SharesAPortWithThoseWhoAgree) {
  listen_options shared;
  shared.reuse_port = true;
  const listener one = listen(loop, endpoint::loopback(0), shared);
  const listener other = listen(loop, one.local(), shared);
  EXPECT_EQ(one.local(), other.local());
}

TEST_F(Listener, RemovesItsSocketFile) {
  const std::string path = folder.path("door.sock");
  listener door = listen(loop, endpoint::path(path));
  EXPECT_TRUE(std::filesystem::is_socket(path));
  door.close();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Listener, LeavesASocketFileThatIsNotItsOwnAnyMore) {
  const std::string path = folder.path("door.sock");
  listener door = listen(loop, endpoint::path(path));
  std::filesystem::rename(path, folder.path("old.sock"));
  const listener successor = listen(loop, endpoint::path(path));
  door.close();
  EXPECT_TRUE(std::filesystem::is_socket(path));
}

TEST_F(Listener, TakesTheFileOfOneThatIsGone) {
  const std::string path = folder.path("door.sock");
  {
    listener door = listen(loop, endpoint::path(folder.path("first.sock")));
    std::filesystem::rename(folder.path("first.sock"), path);  // so that it stays behind
  }
  ASSERT_TRUE(std::filesystem::is_socket(path));
  listener door = listen(loop, endpoint::path(path));
  run([&]() -> task<> {
    const stream client = co_await connect(door.local());
    const stream server = co_await door.accept();
  });
}

TEST_F(Listener, TakesNoFileThatIsInUseOrSomethingElse) {
  const std::string path = folder.path("door.sock");
  const listener door = listen(loop, endpoint::path(path));
  EXPECT_EQ(complaint([&] { listen(loop, endpoint::path(path)); }), "listen on unix:" + path + ": Address already in use");
  folder.write("notes", "precious");
  EXPECT_EQ(complaint([&] { listen(loop, endpoint::path(folder.path("notes"))); }),
            "listen on unix:" + folder.path("notes") + ": Address already in use");
  EXPECT_EQ(folder.read("notes"), "precious");
}

TEST_F(Listener, ConnectingWhereNobodyListensIsRefused) {
  endpoint at;
  {
    const listener door = listen(loop, endpoint::loopback(0));
    at = door.local();
  }
  EXPECT_EQ(complaint([&] { run(connect(at)); }), "connect " + at.text() + ": Connection refused");
  EXPECT_EQ(complaint([&] { run(connect(endpoint::path(folder.path("none")))); }),
            "connect unix:" + folder.path("none") + ": No such file or directory");
  EXPECT_EQ(complaint([&] { run(connect(endpoint())); }), "connect unnamed: Address family not supported by protocol");
}

TEST_F(Listener, ConnectIsCancelledBeforeItConnects) {
  listener door = listen(loop, endpoint::loopback(0));
  run([&]() -> task<> {
    cancel_scope scope(loop);
    scope.cancel();
    auto connects = [](endpoint to) -> task<> { co_await connect(to); };
    LT_REQUIRE(!co_await scope.run(connects(door.local())));
  });
  auto accepts = [](listener& at) -> task<> { co_await at.accept(); };
  EXPECT_FALSE(run([&]() -> task<bool> { co_return co_await move_on_after(milliseconds(1), accepts(door)); }));
}

// A backlog that is full keeps a connection waiting.
TEST_F(Listener, ConnectIsCancelledWhileItWaits) {
  listen_options small;
  small.backlog = 0;
  for (const endpoint& at : {endpoint::loopback(0), endpoint::path(folder.path("full.sock"))}) {
    listener door = listen(loop, at, small);
    std::vector<stream> before;
    auto connects = [](endpoint to, std::vector<stream>& all) -> task<> { all.push_back(co_await connect(to)); };
    bool full = false;
    while (!full) {
      ASSERT_LT(before.size(), 10U);
      full = !run([&]() -> task<bool> { co_return co_await move_on_after(milliseconds(50), connects(door.local(), before)); });
    }
  }
}

TEST_F(Listener, AUnixClientGetsInWhenThereIsRoomAgain) {
  listen_options small;
  small.backlog = 0;
  listener door = listen(loop, endpoint::path(folder.path("full.sock")), small);
  int in = 0;
  auto connects = [](endpoint to, int& count) -> task<> {
    const stream made = co_await connect(to);
    ++count;
  };
  for (int i = 0; i < 5; ++i) spawn(loop, connects(door.local(), in));
  take_turns(10);
  EXPECT_LT(in, 5);
  run([&]() -> task<> {
    for (int i = 0; i < 5; ++i) const stream guest = co_await door.accept();
  });
  while (in < 5) loop.run_once();
}

using ListenerDeathTest = Listener;

TEST_F(ListenerDeathTest, ClosedWhileATaskWaitsIsMisuse) {
  EXPECT_DEATH(
      {
        listener door = listen(loop, endpoint::loopback(0));
        auto accepts = [](listener& at) -> task<> { co_await at.accept(); };
        spawn(loop, accepts(door));
        take_turns();
        door.close();
      },
      "closed while a task waits for it");
}

// In a process of its own, without a descriptor to spare.
int starve() {
  real_host host;
  loop events(host);
  listener door = listen(events, endpoint::loopback(0));
  std::vector<stream> guests;
  std::vector<stream> clients;
  std::size_t wanted = 1;
  auto accepts = [](listener& at, std::vector<stream>& all, const std::size_t& until) -> task<> {
    while (all.size() < until) all.push_back(co_await at.accept());
  };
  auto connects = [](endpoint to, std::vector<stream>& all) -> task<> { all.push_back(co_await connect(to)); };
  // Once with descriptors free: a sanitizer that looks at a type for the first time needs some itself.
  events.run(connects(door.local(), clients));
  events.run(accepts(door, guests, wanted));
  for (int i = 0; i < 3; ++i) events.run(connects(door.local(), clients));

  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t before = limit.rlim_cur;
  const int next = ::dup(0);
  ::close(next);
  limit.rlim_cur = static_cast<rlim_t>(next);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  wanted = 4;
  bool done = false;
  spawn(events, accepts(door, guests, wanted), [&](const outcome<>& how) { done = how.ok(); });
  while (door.statistics().starved < 3) events.run_once();  // 10 ms, 20 ms
  if (guests.size() != 1) return 2;
  // It sleeps from one look to the next: 10 + 20 + 40 ms are four looks, and few turns.
  if (events.statistics().polls > 100) return 3;
  limit.rlim_cur = before;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 4;
  while (!done) events.run_once();
  if (guests.size() != 4) return 5;
  return 0;
}

TEST_F(Listener, WithoutDescriptorsItPausesAndGoesOnWhenThereAreSome) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer needs descriptors itself where it meets a type for the first time";
#endif
  owned.reset();
  host.reset();
  const pid_t alone = ::fork();
  ASSERT_GE(alone, 0);
  if (alone == 0) ::_exit(starve());
  int status = 0;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace looptask
