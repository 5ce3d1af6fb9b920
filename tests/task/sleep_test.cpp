#include <looptask/sleep.hpp>

#include <malloc.h>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Sleep : in_a_world {};

task<duration> measures(sim::world& w, duration d) {
  const duration begin = w.now();
  co_await sleep_for(d);
  co_return w.now() - begin;
}

TEST_F(Sleep, LastsExactlyAsLongAsAsked) {
  for (const duration d : {duration(1), duration(999), duration(milliseconds(1)), duration(hours(100))}) {
    EXPECT_EQ(loop.run(measures(world, d)), d);
  }
}

TEST_F(Sleep, OfNothingDoesNotGiveUpTheTurn) {
  auto body = [](std::vector<std::string>& o) -> task<> {
    co_await sleep_for(seconds(0));
    co_await sleep_for(seconds(-1));
    co_await sleep_until(monotonic_time(seconds(0)));
    o.push_back("slept");
  };
  spawn(loop, body(order));
  loop.call_soon([&] { note("next"); });
  loop.run();
  EXPECT_EQ(order, (words{"slept", "next"}));
}

TEST_F(Sleep, OfNothingInAnEndlessLoopLetsOthersRun) {
  bool stop = false;
  auto spins = [](bool& s) -> task<> {
    while (!s) co_await sleep_for(seconds(0));
  };
  spawn(loop, spins(stop));
  loop.call_soon([&] { stop = true; });
  loop.run();
  EXPECT_TRUE(stop);
}

TEST_F(Sleep, UntilDoesNotDrift) {
  auto ticks = [](sim::world& w) -> task<int> {
    int on_time = 0;
    monotonic_time next = this_loop().now();
    for (int i = 0; i < 1000; ++i) {
      next += milliseconds(7);
      co_await sleep_until(next);
      if (w.now() == milliseconds(7) * (i + 1)) ++on_time;
    }
    co_return on_time;
  };
  EXPECT_EQ(loop.run(ticks(world)), 1000);
}

TEST_F(Sleep, CancelledBeforeItBeginsDoesNotSleep) {
  auto body = []() -> task<> { co_await sleep_for(seconds(0)); };
  cancel_scope scope(loop);
  scope.cancel();
  bool struck = false;
  spawn(loop, scope, body(), [&](outcome<> o) { struck = !o.ok(); });
  loop.run();
  EXPECT_TRUE(struck);
}

TEST_F(Sleep, CancelledMeanwhileEndsAtOnce) {
  auto body = []() -> task<> { co_await sleep_for(hours(1)); };
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), body())));
  EXPECT_EQ(now(), seconds(1));
  EXPECT_EQ(loop.statistics().armed, 0U);
}

TEST_F(Sleep, YieldIsACancelPoint) {
  auto body = [](int& n) -> task<> {
    while (true) {
      co_await yield();
      ++n;
    }
  };
  cancel_scope scope(loop);
  int rounds = 0;
  spawn(loop, scope, body(rounds), [](outcome<>) {});
  loop.call_later(seconds(0), [&] { scope.cancel(); });
  loop.run();
  EXPECT_GT(rounds, 0);
}

TEST_F(Sleep, ASleepingTaskIsSmall) {
  auto sleeper = []() -> task<> { co_await sleep_for(hours(1)); };
  const auto frames = memory_pool::live();
  spawn(loop, sleeper());
  EXPECT_EQ(memory_pool::live() - frames, 2);  // its frame and its fiber
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
task<> ticks_every_second(monotonic_time next) {
  while (true) {
    co_await sleep_until(next);
    next += seconds(1);
  }
}

// All of it, with what the heap adds: the frame, the fiber, the timer.
TEST_F(Sleep, APeriodicTaskTakesAtMost256Bytes) {
  constexpr std::size_t tasks = 10'000;
  const std::size_t heap = mallinfo2().uordblks;
  for (std::size_t i = 0; i < tasks; ++i) spawn(loop, ticks_every_second(loop.now() + hours(1)));
  loop.run_once();
  EXPECT_LE((mallinfo2().uordblks - heap) / tasks, 256U);
}
#endif

TEST_F(Sleep, ASleepMayBeAwaitedAgainOnceItIsOver) {
  loop.run([]() -> task<> {
    auto nap = sleep_for(seconds(2));
    co_await nap;
    co_await nap;  // its instant has passed
  }());
  EXPECT_EQ(now(), seconds(2));
}

}  // namespace
}  // namespace looptask
