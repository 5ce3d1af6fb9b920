#include <looptask/real_host.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <looptask/loop.hpp>

#include "process/scratch.hpp"

namespace looptask {
namespace {

using std::chrono::hours;

TEST(RealHost, TellsTheThreeTimes) {
  real_host host;
  const monotonic_time a = host.clock().monotonic();
  const monotonic_time b = host.clock().monotonic();
  EXPECT_LE(a, b);
  EXPECT_GE(host.clock().boot(), a.time_since_epoch());
  EXPECT_GT(host.clock().wall(), instant(std::chrono::seconds(1'700'000'000)));
  EXPECT_EQ(host.clock().boot_id().size(), 36U);
  EXPECT_EQ(host.clock().boot_id(), host.clock().boot_id());
}

TEST(RealHost, GivesTheLoopsThreadExactWaitsAndTakesThemBack) {
  const int before = ::prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  {
    real_host host;
    loop l(host);
    EXPECT_EQ(::prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), 1);
  }
  EXPECT_EQ(::prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), before);
}

TEST(RealHost, TakesAHandlerForWallStepsAndGivesItBack) {
  real_host host;
  loop l(host);
  auto held = std::make_shared<int>(0);
  host.clock().on_wall_step([held] {});
  host.clock().on_wall_step([held] {});
  EXPECT_EQ(held.use_count(), 2);
  l.run();  // it does not keep the loop running
  host.clock().on_wall_step(nullptr);
  EXPECT_EQ(held.use_count(), 1);
  host.clock().on_wall_step([held] {});
}

TEST(RealHost, ThatCannotBeAttachedIsAsBefore) {
  {
    // A sanitizer looks at a type that is new to it through a pipe, which the limit below would not let it have.
    real_host another;
    loop seen(another);
  }
  real_host host;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_THROW(loop l(host), std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  loop again(host);
  bool ran = false;
  again.call_soon([&] { ran = true; });
  again.run();
  EXPECT_TRUE(ran);
}

TEST(RealHost, RandomNumbersDifferFromHostToHost) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10; ++i) {
    real_host host;
    for (int n = 0; n < 10; ++n) seen.insert(host.random().next());
  }
  EXPECT_EQ(seen.size(), 100U);
}

struct Signals : testing::Test {
  real_host host;
  looptask::loop loop{host};
  std::vector<int> came;
  unique_function<void(int)> note() {
    return [this](int s) { came.push_back(s); };
  }
};

TEST_F(Signals, ArriveOnTheLoop) {
  const loop_hold hold = loop.hold();
  host.signals().watch(SIGUSR1, [this](int s) {
    came.push_back(s);
    loop.stop();
  });
  loop.call_soon([] { ::kill(::getpid(), SIGUSR1); });
  loop.run();
  EXPECT_EQ(came, (std::vector{SIGUSR1}));
}

TEST_F(Signals, WakeASleepingLoopFromAnotherThread) {
  const loop_hold hold = loop.hold();
  host.signals().watch(SIGUSR1, [this](int s) {
    came.push_back(s);
    loop.stop();
  });
  std::thread sender([] { ::kill(::getpid(), SIGUSR1); });
  loop.run();
  sender.join();
  EXPECT_EQ(came, (std::vector{SIGUSR1}));
}

TEST_F(Signals, DoNotKeepTheLoopRunning) {
  host.signals().watch(SIGUSR1, note());
  loop.run();
  EXPECT_TRUE(came.empty());
}

TEST_F(Signals, OfSeveralNumbersAreAllDelivered) {
  host.signals().watch(SIGUSR1, note());
  host.signals().watch(SIGUSR2, note());
  ::raise(SIGUSR2);
  ::raise(SIGUSR1);
  loop.run_once();
  EXPECT_EQ(came, (std::vector{SIGUSR1, SIGUSR2}));
}

TEST_F(Signals, AHandlerMayUnwatchItself) {
  host.signals().watch(SIGUSR1, [this](int s) {
    came.push_back(s);
    host.signals().unwatch(s);
  });
  ::raise(SIGUSR1);
  loop.run_once();
  EXPECT_EQ(came.size(), 1U);
}

TEST_F(Signals, WhatAHandlerThrowsGoesToTheLoopAndTheOthersStillCome) {
  int errors = 0;
  loop.on_error([&](std::exception_ptr) { ++errors; });
  host.signals().watch(SIGUSR1, [](int) { throw std::runtime_error("handler"); });
  host.signals().watch(SIGUSR2, note());
  ::raise(SIGUSR1);
  ::raise(SIGUSR2);
  loop.call_soon([&] { loop.call_soon([] {}); });
  loop.run_once();
  loop.run_once();
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(came, (std::vector{SIGUSR2}));
}

TEST_F(Signals, UnwatchRestoresWhatWasThereBefore) {
  struct sigaction before {};
  ::sigaction(SIGUSR1, nullptr, &before);
  host.signals().watch(SIGUSR1, note());
  host.signals().unwatch(SIGUSR1);
  host.signals().unwatch(SIGUSR1);
  struct sigaction after {};
  ::sigaction(SIGUSR1, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

TEST_F(Signals, NoMaskIsChangedSoThatChildrenInheritNone) {
  sigset_t before;
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  host.signals().watch(SIGUSR1, note());
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int s = 1; s < 65; ++s) EXPECT_EQ(::sigismember(&before, s), ::sigismember(&after, s));
}

TEST_F(Signals, HaveOneOwnerInTheProcess) {
  real_host other;
  host.signals().watch(SIGUSR1, note());
  EXPECT_DEATH(other.signals().watch(SIGUSR1, [](int) {}), "another host");
  EXPECT_DEATH(host.signals().watch(SIGUSR1, [](int) {}), "watched already");
}

// Signals come from other threads all the time while the watch is taken and given up.
TEST_F(Signals, MayComeWhileTheyAreUnwatched) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before {};
  ::sigaction(SIGUSR1, &ignore, &before);
  std::atomic<bool> end = false;
  std::thread sender([&] {
    while (!end) ::raise(SIGUSR1);  // on this thread
  });
  for (int i = 0; i < 500; ++i) {
    host.signals().watch(SIGUSR1, note());
    loop.run_once();
    host.signals().unwatch(SIGUSR1);
  }
  end = true;
  sender.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

struct Files : testing::Test {
  real_host host;
  scratch folder;
  std::string path = folder.path() + "/file";
};

TEST_F(Files, AppendCreatesAndReadReturnsAll) {
  EXPECT_FALSE(host.files().exists(path));
  const std::string much(100'000, 'x');
  host.files().append(path, "begin ");
  host.files().append(path, much);
  EXPECT_TRUE(host.files().exists(path));
  EXPECT_EQ(host.files().read(path), "begin " + much);
  const auto mode = std::filesystem::status(path).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(Files, ReadIsBounded) {
  host.files().append(path, "12345");
  EXPECT_EQ(host.files().read(path, 5), "12345");
  EXPECT_THROW(host.files().read(path, 4), std::system_error);
}

// The open of a FIFO would wait for its other end, and a device may have no end.
TEST_F(Files, NothingButRegularFilesIsReadOrWritten) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto refusal = [&](const auto& call) -> int {
    try {
      call();
    } catch (const std::system_error& e) {
      EXPECT_NE(std::string(e.what()).find("is not a regular file"), std::string::npos) << e.what();
      return e.code().value();
    }
    return 0;
  };
  EXPECT_EQ(refusal([&] { static_cast<void>(host.files().read(path)); }), EINVAL);
  EXPECT_EQ(refusal([&] { static_cast<void>(host.files().read("/dev/zero")); }), EINVAL);
  EXPECT_EQ(refusal([&] { host.files().append("/dev/null", "x"); }), EINVAL);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_EQ(refusal([&] { host.files().append(path, "x"); }), EINVAL);
  ::close(reader);
}

TEST_F(Files, ADirectoryIsNoFile) {
  try {
    static_cast<void>(host.files().read(folder.path()));
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code().value(), EISDIR);
  }
}

TEST_F(Files, ErrorsNameThePath) {
  try {
    static_cast<void>(host.files().read(path));
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code().value(), ENOENT);
    EXPECT_NE(std::string(e.what()).find(path), std::string::npos);
  }
}

TEST_F(Files, MakesDirectoriesAsDeepAsAsked) {
  const std::string deep = folder.path() + "/a/b/c";
  host.files().make_directories(deep, 0700);
  host.files().make_directories(deep, 0700);
  EXPECT_TRUE(std::filesystem::is_directory(deep));
  host.files().append(path, "");
  EXPECT_THROW(host.files().make_directories(path + "/below", 0700), std::system_error);
}

TEST_F(Files, ALockIsHeldOnceUntilItIsDropped) {
  auto lock = host.files().try_lock(path);
  EXPECT_NE(lock, nullptr);
  EXPECT_EQ(host.files().try_lock(path), nullptr);
  lock.reset();
  EXPECT_NE(host.files().try_lock(path), nullptr);
}

TEST(RealHostDeathTest, OneLoopAtATime) {
  EXPECT_DEATH(
      {
        real_host host;
        loop first(host);
        loop second(host);
      },
      "second loop");
}

}  // namespace
}  // namespace looptask
