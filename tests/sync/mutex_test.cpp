#include <looptask/mutex.hpp>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Mutex : in_a_world {
  mutex one;
  task<> holds(std::string name, duration d) {
    const auto held = co_await one.lock();
    note(name);
    co_await sleep_for(d);
  }
};

TEST_F(Mutex, IsHeldByOneAtATimeInOrderOfAsking) {
  for (const char* name : {"a", "b", "c"}) spawn(loop, holds(name, seconds(1)));
  loop.run();
  EXPECT_EQ(order, (words{"a", "b", "c"}));
  EXPECT_EQ(now(), seconds(3));
  EXPECT_FALSE(one.statistics().locked);
}

TEST_F(Mutex, NobodyOvertakesAWaiter) {
  auto first = one.try_lock();
  spawn(loop, holds("waiter", seconds(1)));
  loop.call_later(seconds(1), [&] {
    spawn(loop, holds("late", seconds(1)));  // asks before the waiter has run
    first.reset();
    EXPECT_FALSE(one.try_lock().has_value());
  });
  loop.run();
  EXPECT_EQ(order, (words{"waiter", "late"}));
}

TEST_F(Mutex, TryLockTakesAFreeOneOnly) {
  auto first = one.try_lock();
  LT_REQUIRE(first.has_value());
  EXPECT_FALSE(one.try_lock().has_value());
  first->unlock();
  EXPECT_FALSE(first->owns_lock());
  first->unlock();
  auto second = one.try_lock();
  EXPECT_TRUE(second.has_value());
}

TEST_F(Mutex, AMovedGuardUnlocksOnce) {
  auto first = one.try_lock();
  mutex::guard second = std::move(*first);
  first.reset();
  EXPECT_TRUE(one.statistics().locked);
  second.unlock();
  EXPECT_FALSE(one.statistics().locked);
}

TEST_F(Mutex, CancellationBeforeTheAwaitLocksNothing) {
  cancel_scope scope(loop);
  scope.cancel();
  auto body = [](cancel_scope& inside, task<> work) -> task<bool> { co_return co_await inside.run(std::move(work)); };
  EXPECT_FALSE(loop.run(body(scope, holds("never", seconds(1)))));
  EXPECT_FALSE(one.statistics().locked);
  EXPECT_EQ(order, words{});
}

TEST_F(Mutex, CancellationWhileWaitingLeavesTheLine) {
  auto held = one.try_lock();
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), holds("never", seconds(1)))));
  EXPECT_EQ(one.statistics().waiting, 0U);
  held.reset();
  EXPECT_FALSE(one.statistics().locked);
}

TEST_F(Mutex, CancellationAfterTheHandOverDeliversAndUnwindingUnlocks) {
  auto held = one.try_lock();
  cancel_scope scope(loop);
  outcome<> how;
  spawn(loop, scope, holds("got it", hours(1)), [&](outcome<> o) { how = std::move(o); });
  loop.call_later(seconds(1), [&] {
    held.reset();
    scope.cancel();
  });
  loop.run();
  EXPECT_EQ(order, (words{"got it"}));
  EXPECT_THROW(std::move(how).get(), cancelled);
  EXPECT_FALSE(one.statistics().locked);
}

TEST_F(Mutex, ALockHandedToATaskThatIsDestroyedWithItsLoopComesBack) {
  auto held = one.try_lock();
  spawn(loop, holds("never", hours(1)));
  spawn(loop, holds("never", hours(1)));
  loop.call_later(seconds(1), [&] {
    held.reset();
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(one.statistics().locked);
  owned.reset();
  EXPECT_FALSE(one.statistics().locked);
  EXPECT_EQ(one.statistics().waiting, 0U);
  EXPECT_EQ(order, words{});
}

TEST_F(Mutex, ATaskThatNeverHasToWaitStillLetsOthersRun) {
  bool other_ran = false;
  int rounds = 0;
  auto greedy = [](mutex& m, int& n, bool& other) -> task<> {
    while (!other) {
      const auto held = co_await m.lock();
      ++n;
    }
  };
  spawn(loop, greedy(one, rounds, other_ran));
  loop.call_soon([&] { other_ran = true; });
  loop.run();
  EXPECT_EQ(rounds, 257);  // 256 in the first turn; the last was asked for in it and comes in the next
}

TEST_F(Mutex, StatisticsTellWhoWaitsAndWaited) {
  for (const char* name : {"a", "b", "c"}) spawn(loop, holds(name, seconds(1)));
  loop.call_later(milliseconds(500), [&] {
    const mutex_statistics now = one.statistics();
    EXPECT_TRUE(now.locked);
    EXPECT_EQ(now.waiting, 2U);
  });
  loop.run();
  const mutex_statistics after = one.statistics();
  EXPECT_EQ(after.waiting, 0U);
  EXPECT_EQ(after.most_waiting, 2U);
  EXPECT_EQ(after.waited, 2U);
  EXPECT_EQ(after.acquired, 3U);
}

TEST(MutexDeathTest, DestroyedWhileTasksWaitIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        auto m = std::make_unique<mutex>();
        auto held = m->try_lock();
        auto waits = [](mutex& of) -> task<> { const auto guard = co_await of.lock(); };
        spawn(l, waits(*m));
        l.run();
        m.reset();
      },
      "mutex destroyed while tasks wait");
}

}  // namespace
}  // namespace looptask
