#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace looptask {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

struct an_eventfd final : readiness_handler {
  unique_function<void()> then;
  int fd = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  ~an_eventfd() { ::close(fd); }
  void on_ready(readiness) override { then(); }
};

struct Turn : testing::Test {
  real_host host;
  looptask::loop loop{host};
  std::vector<std::string> order;
  unique_function<void()> note(std::string what) {
    return [this, what = std::move(what)] { order.push_back(what); };
  }
};

using words = std::vector<std::string>;

TEST_F(Turn, RunsReadyWorkInOrder) {
  for (const char* w : {"a", "b", "c"}) loop.call_soon(note(w));
  loop.run();
  EXPECT_EQ(order, (words{"a", "b", "c"}));
}

TEST_F(Turn, RunsOnlyWhatWasReadyWhenItBegan) {
  loop.call_soon([this] {
    order.push_back("first");
    loop.call_soon(note("next turn"));
  });
  loop.run_once();
  EXPECT_EQ(order, (words{"first"}));
  loop.run_once();
  EXPECT_EQ(order, (words{"first", "next turn"}));
}

TEST_F(Turn, IsReadyThenPollThenTimersThenIdle) {
  an_eventfd event;
  event.then = [&] {
    order.push_back("poll");
    loop.unwatch(event.fd);
  };
  loop.call_idle(note("idle"));
  loop.call_at(loop.now(), note("timer"));
  loop.watch(event.fd, readiness::read, event);
  loop.call_soon(note("ready"));
  loop.run();
  EXPECT_EQ(order, (words{"ready", "poll", "timer", "idle"}));
}

TEST_F(Turn, ServesTimersAndDescriptorsWhileWorkKeepsBeingReady) {
  an_eventfd event;
  int rounds = 0;
  bool timer = false;
  bool polled = false;
  unique_function<void()> again = [&] {
    ++rounds;
    if (!timer || !polled) loop.call_soon([&] { again(); });
  };
  event.then = [&] {
    polled = true;
    loop.unwatch(event.fd);
  };
  loop.watch(event.fd, readiness::read, event);
  loop.call_at(loop.now(), [&] { timer = true; });
  loop.call_soon([&] { again(); });
  loop.run();
  EXPECT_LE(rounds, 130);
}

TEST_F(Turn, NowStandsStillBetweenPolls) {
  std::vector<monotonic_time> seen;
  for (int i = 0; i < 3; ++i) loop.call_soon([&] { seen.push_back(loop.now()); });
  loop.run();
  EXPECT_EQ(seen[0], seen[2]);
}

TEST_F(Turn, IdleWorkWaitsUntilNothingIsReady) {
  loop.call_idle(note("idle"));
  loop.call_soon([this] {
    order.push_back("1");
    loop.call_soon([this] {
      order.push_back("2");
      loop.call_soon(note("3"));
    });
  });
  loop.run();
  EXPECT_EQ(order, (words{"1", "2", "3", "idle"}));
}

TEST_F(Turn, IdleWorkIsNotStarvedByWorkThatNeverPauses) {
  int turns = 0;
  int at = 0;
  unique_function<void()> again = [&] {
    if (++turns < 1000) loop.call_soon([&] { again(); });
  };
  loop.call_soon([&] { again(); });
  loop.call_idle([&] { at = turns; });
  loop.run();
  EXPECT_GT(at, 0);
  EXPECT_LE(at, 64);
}

TEST_F(Turn, IdleWorkAskedForInIdleWorkWaitsForTheNextIdleInstant) {
  loop.call_idle([this] {
    order.push_back("idle 1");
    loop.call_soon(note("ready"));
    loop.call_idle(note("idle 2"));
  });
  loop.run();
  EXPECT_EQ(order, (words{"idle 1", "ready", "idle 2"}));
}

TEST_F(Turn, RunReturnsWhenNothingIsLeft) {
  loop.run();
  SUCCEED();
}

TEST_F(Turn, HoldKeepsItRunning) {
  loop_hold hold = loop.hold();
  loop.call_soon([&] {
    loop.call_soon([&] {
      order.push_back("released");
      hold = {};
    });
  });
  loop.run();
  EXPECT_EQ(order, (words{"released"}));
  EXPECT_EQ(loop.statistics().holds, 0U);
}

TEST_F(Turn, StopEndsItAfterTheTurn) {
  loop.call_later(hours(1), [] {});
  loop.call_soon([this] {
    loop.stop();
    loop.call_soon(note("not this time"));
  });
  loop.call_soon(note("same turn"));
  loop.run();
  EXPECT_EQ(order, (words{"same turn"}));
}

TEST_F(Turn, StopBeforeRunAllowsOneTurnThatDoesNotWait) {
  loop.call_later(hours(1), [] {});
  loop.call_soon(note("ran"));
  loop.stop();
  loop.run();
  EXPECT_EQ(order, (words{"ran"}));
}

TEST_F(Turn, RunOnceWaitsIfNothingIsReady) {
  loop.call_later(milliseconds(1), note("timer"));
  loop.run_once();
  EXPECT_EQ(order, (words{"timer"}));
}

TEST_F(Turn, ErrorsOfCallbacksReachTheHandlerAndHurtNobodyElse) {
  loop.on_error([this](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      order.push_back(e.what());
    }
  });
  an_eventfd event;
  event.then = [&] {
    loop.unwatch(event.fd);
    throw std::runtime_error("poll");
  };
  loop.call_soon([] { throw std::runtime_error("ready"); });
  loop.call_soon(note("neighbour"));
  loop.post([] { throw std::runtime_error("posted"); });
  loop.watch(event.fd, readiness::read, event);
  loop.call_at(loop.now(), [] { throw std::runtime_error("timer"); });
  loop.call_idle([] { throw std::runtime_error("idle"); });
  loop.run();
  EXPECT_EQ(order, (words{"ready", "neighbour", "posted", "poll", "timer", "idle"}));
}

TEST_F(Turn, ARelativeDelayCountsFromTheCallNotFromNow) {
  duration waited{};
  loop.call_soon([&] {
    const monotonic_time begin = host.clock().monotonic();
    while (host.clock().monotonic() - begin < milliseconds(5)) {
    }
    const monotonic_time asked = host.clock().monotonic();
    loop.call_later(milliseconds(2), [&waited, asked, this] { waited = host.clock().monotonic() - asked; });
  });
  loop.run();
  EXPECT_GE(waited, milliseconds(2));
}

TEST(LoopDeathTest, AnUnhandledErrorIsLoud) {
  EXPECT_DEATH(
      {
        real_host host;
        looptask::loop loop(host);
        loop.call_soon([] { throw std::runtime_error("boom"); });
        loop.run();
      },
      "nobody handled.*boom");
}

TEST(LoopDeathTest, RunInsideACallbackIsMisuse) {
  EXPECT_DEATH(
      {
        real_host host;
        looptask::loop loop(host);
        loop.call_soon([&] { loop.run(); });
        loop.run();
      },
      "from inside one of its callbacks");
}

}  // namespace
}  // namespace looptask
