// run_blocking in a simulated world: on the loop's thread, in virtual time, the same for the same seed.
#include <looptask/blocking.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include "task/world.hpp"

namespace looptask {
namespace {

struct VirtualWorkers : in_a_world {
  worker_port& workers = world.workers();
  void call(std::string name, on_cancel how = on_cancel::wait) {
    spawn(loop, [this, name, how]() -> task<> {
      auto work = [this, &name] { note(name); };
      co_await run_blocking(work, how, name);
      note(name + " over");
    });
  }
};

std::vector<std::pair<int, duration>> ends_of(std::uint64_t seed) {
  sim::world world(seed);
  world.workers().limit({.threads = 3});
  loop l(world);
  std::vector<std::pair<int, duration>> ends;
  for (int i = 0; i < 20; ++i) {
    spawn(l, [&, i]() -> task<> {
      auto work = [&world] { return world.now(); };
      const duration at = co_await run_blocking(work);
      ends.emplace_back(i, at);
    });
  }
  l.run();
  return ends;
}

TEST(VirtualPool, TheSameSeedGivesTheSameTimesAndAnotherSeedOthers) {
  const auto one = ends_of(7);
  EXPECT_EQ(one.size(), 20U);
  EXPECT_EQ(one, ends_of(7));
  EXPECT_NE(one, ends_of(8));
}

TEST_F(VirtualWorkers, ACallTakesVirtualTimeAndTheLoopGoesOn) {
  int beats = 0;
  call("work");
  spawn(loop, [this, &beats]() -> task<> {
    while (order.empty()) {
      co_await sleep_for(std::chrono::microseconds(10));
      ++beats;
    }
  });
  loop.run();
  EXPECT_EQ(order, (words{"work", "work over"}));
  EXPECT_GE(beats, 4);
  EXPECT_GE(now(), std::chrono::microseconds(50));
  EXPECT_LE(now(), milliseconds(6));
}

TEST_F(VirtualWorkers, TheLimitQueuesInOrder) {
  workers.limit({.threads = 1});
  for (const char* name : {"a", "b", "c"}) call(name);
  loop.run_once();
  EXPECT_EQ(workers.statistics().running, 1U);
  EXPECT_EQ(workers.statistics().queued, 2U);
  loop.run();
  EXPECT_EQ(order, (words{"a", "a over", "b", "b over", "c", "c over"}));
}

TEST_F(VirtualWorkers, DeliversAnException) {
  auto body = []() -> task<> {
    auto work = [] { throw std::runtime_error("from the worker"); };
    co_await run_blocking(work);
  };
  EXPECT_THROW(loop.run(body()), std::runtime_error);
}

TEST_F(VirtualWorkers, AbandonedItEndsInItsTimeAndIsListedUntilThen) {
  auto body = [](VirtualWorkers& t) -> task<> {
    auto work = [&t] { t.note("ran"); };
    co_await run_blocking(work, on_cancel::abandon, "slow");
  };
  EXPECT_FALSE(loop.run(move_on_after(std::chrono::microseconds(10), body(*this))));
  EXPECT_EQ(now(), std::chrono::microseconds(10));
  ASSERT_EQ(workers.statistics().abandoned.size(), 1U);
  EXPECT_EQ(workers.statistics().abandoned[0].name, "slow");
  loop.run([]() -> task<> { co_await sleep_for(seconds(1)); }());
  EXPECT_EQ(order, (words{"ran"}));
  EXPECT_TRUE(workers.statistics().abandoned.empty());
}

TEST_F(VirtualWorkers, CancelledWhileItRunsInModeWaitDeliversTheResult) {
  auto body = [](VirtualWorkers& t) -> task<> {
    auto work = [] { return 5; };
    const int got = co_await run_blocking(work);
    t.note(std::to_string(got));
    co_await yield();
    t.note("never");
  };
  EXPECT_FALSE(loop.run(move_on_after(std::chrono::microseconds(10), body(*this))));
  EXPECT_EQ(order, (words{"5"}));
}

TEST_F(VirtualWorkers, TheEndOfTheLoopLetsWhatRunsEndAndDropsTheRest) {
  workers.limit({.threads = 2});
  call("a");
  call("b", on_cancel::abandon);
  call("c");
  loop.run_once();
  owned.reset();
  EXPECT_EQ(order, (words{"a"}));
}

TEST_F(VirtualWorkers, AfterACrashNothingRunsAnyMore) {
  world.crash_at(std::chrono::microseconds(20));
  call("a");
  EXPECT_THROW(loop.run(), sim::crash);
  owned.reset();
  EXPECT_EQ(order, words{});
}

}  // namespace
}  // namespace looptask
