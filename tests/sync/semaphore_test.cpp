#include <looptask/semaphore.hpp>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Semaphore : in_a_world {
  semaphore one{1};
  task<> holds(std::string name, duration d) {
    const auto permit = co_await one.acquire();
    note(name);
    co_await sleep_for(d);
  }
};

TEST_F(Semaphore, HandsPermitsOutInOrderOfAsking) {
  for (const char* name : {"a", "b", "c"}) spawn(loop, holds(name, seconds(1)));
  loop.run();
  EXPECT_EQ(order, (words{"a", "b", "c"}));
  EXPECT_EQ(now(), seconds(3));
  EXPECT_EQ(one.statistics().available, 1U);
}

TEST_F(Semaphore, NobodyOvertakesAWaiter) {
  auto first = one.try_acquire();
  spawn(loop, holds("waiter", seconds(1)));
  loop.call_later(seconds(1), [&] {
    EXPECT_EQ(one.statistics().waiting, 1U);
    spawn(loop, holds("late", seconds(1)));  // runs before the waiter does
    first.reset();
    EXPECT_FALSE(one.try_acquire().has_value());
  });
  loop.run();
  EXPECT_EQ(order, (words{"waiter", "late"}));
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(Semaphore, APermitThatIsHandedOverCannotBeSnatchedInTheSameTurn) {
  auto first = one.try_acquire();
  spawn(loop, holds("waiter", seconds(0)));
  loop.call_later(seconds(1), [&] {
    first.reset();  // to the waiter, which runs in the next turn
    EXPECT_FALSE(one.try_acquire().has_value());
  });
  loop.run();
  EXPECT_EQ(order, (words{"waiter"}));
}

TEST_F(Semaphore, TryAcquireTakesAFreePermit) {
  auto permit = one.try_acquire();
  EXPECT_TRUE(permit.has_value());
  EXPECT_FALSE(one.try_acquire().has_value());
  permit->release();
  permit->release();
  EXPECT_EQ(one.statistics().available, 1U);
}

TEST_F(Semaphore, CancellationBeforeTheAwaitTakesNothing) {
  auto body = [](looptask::loop& l, semaphore& s) -> task<> {
    cancel_scope scope(l);
    scope.cancel();
    auto acquires = [](semaphore& of) -> task<> { const auto permit = co_await of.acquire(); };
    const bool done = co_await scope.run(acquires(s));
    LT_REQUIRE(!done);
  };
  loop.run(body(loop, one));
  EXPECT_EQ(one.statistics().available, 1U);
}

TEST_F(Semaphore, CancellationWhileWaitingLeavesTheQueue) {
  auto permit = one.try_acquire();
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), holds("never", seconds(1)))));
  EXPECT_EQ(one.statistics().waiting, 0U);
  permit.reset();
  EXPECT_EQ(one.statistics().available, 1U);
  EXPECT_EQ(order, words{});
}

TEST_F(Semaphore, CancellationAfterTheHandOverGivesThePermitBack) {
  auto permit = one.try_acquire();
  cancel_scope scope(loop);
  outcome<> how;
  spawn(loop, scope, holds("got it", hours(1)), [&](outcome<> o) { how = std::move(o); });
  loop.call_later(seconds(1), [&] {
    permit.reset();
    scope.cancel();
  });
  loop.run();
  EXPECT_EQ(order, (words{"got it"}));
  EXPECT_THROW(std::move(how).get(), cancelled);
  EXPECT_EQ(one.statistics().available, 1U);
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(Semaphore, APermitPassesByAWaiterThatIsCancelledInTheSameTurn) {
  for (const bool cancelled_first : {true, false}) {
    order.clear();
    auto permit = one.try_acquire();
    cancel_scope scope(loop);
    spawn(loop, scope, holds("first", hours(1)), [](outcome<>) {});
    spawn(loop, holds("second", seconds(1)));
    const duration begin = now();
    loop.call_later(seconds(1), [&] {
      if (cancelled_first) scope.cancel();
      permit.reset();
      scope.cancel();
    });
    loop.run();
    // Handed over before the cancellation, it is delivered, and comes back at the first one's next await.
    EXPECT_EQ(order, cancelled_first ? words{"second"} : (words{"first", "second"}));
    EXPECT_EQ(now() - begin, seconds(2));
    EXPECT_EQ(one.statistics().available, 1U);
  }
}

TEST_F(Semaphore, APermitHandedToATaskThatIsDestroyedWithItsLoopComesBack) {
  auto permit = one.try_acquire();
  spawn(loop, holds("never", hours(1)));
  loop.call_later(seconds(1), [&] {
    permit.reset();
    loop.stop();
  });
  loop.run();
  owned.reset();
  EXPECT_EQ(one.statistics().available, 1U);
}

TEST_F(Semaphore, ATaskThatNeverHasToWaitStillLetsOthersRun) {
  bool other_ran = false;
  int rounds = 0;
  auto greedy = [](semaphore& s, int& n, bool& other) -> task<> {
    while (!other) {
      const auto permit = co_await s.acquire();
      ++n;
    }
  };
  spawn(loop, greedy(one, rounds, other_ran));
  loop.call_later(duration(0), [&] { other_ran = true; });
  loop.run();
  EXPECT_GT(rounds, 1);
  EXPECT_LT(rounds, 64 * 1024);
}

TEST_F(Semaphore, HandsOutSeveralPermitsAtOnce) {
  semaphore five(5);
  auto takes = [](Semaphore& test, semaphore& of, std::size_t count, std::string name, duration d) -> task<> {
    const auto permit = co_await of.acquire(count);
    test.note(name);
    co_await sleep_for(d);
  };
  spawn(loop, takes(*this, five, 3, "three", seconds(1)));
  spawn(loop, takes(*this, five, 4, "four", seconds(1)));
  spawn(loop, takes(*this, five, 1, "one", seconds(1)));  // would fit beside the three, but does not overtake the four
  loop.call_later(milliseconds(500), [&] {
    EXPECT_EQ(order, (words{"three"}));
    EXPECT_EQ(five.statistics().available, 2U);
    EXPECT_FALSE(five.try_acquire().has_value());
  });
  loop.run();
  EXPECT_EQ(order, (words{"three", "four", "one"}));
  EXPECT_EQ(now(), seconds(2));
  EXPECT_EQ(five.statistics().available, 5U);
}

TEST_F(Semaphore, WhoWantedTooMuchAndGivesUpLetsThoseBehindGoOn) {
  semaphore five(5);
  auto held = five.try_acquire(3);
  auto takes = [](Semaphore& test, semaphore& of, std::size_t count, std::string name) -> task<> {
    const auto permit = co_await of.acquire(count);
    test.note(name);
  };
  cancel_scope scope(loop);
  spawn(loop, scope, takes(*this, five, 4, "four"), [](outcome<>) {});
  spawn(loop, takes(*this, five, 1, "one"));
  spawn(loop, takes(*this, five, 1, "another"));
  loop.call_later(seconds(1), [&] {
    EXPECT_EQ(order, words{});
    scope.cancel();
  });
  loop.run();
  EXPECT_EQ(order, (words{"one", "another"}));
  EXPECT_EQ(five.statistics().available, 2U);
  held.reset();
  EXPECT_EQ(five.statistics().available, 5U);
}

TEST_F(Semaphore, APermitForSeveralMovesAsOne) {
  semaphore five(5);
  auto two = five.try_acquire(2);
  auto three = five.try_acquire(3);
  EXPECT_EQ(five.statistics().available, 0U);
  *two = std::move(*three);  // swaps
  two.reset();
  EXPECT_EQ(five.statistics().available, 3U);
  three.reset();
  EXPECT_EQ(five.statistics().available, 5U);
}

TEST_F(Semaphore, StatisticsTellWhatWasHandedOutAndWhoWaited) {
  for (const char* name : {"a", "b", "c"}) spawn(loop, holds(name, seconds(1)));
  loop.run();
  const semaphore_statistics after = one.statistics();
  EXPECT_EQ(after.total, 1U);
  EXPECT_EQ(after.acquired, 3U);
  EXPECT_EQ(after.waited, 2U);
  EXPECT_EQ(after.most_waiting, 2U);
  EXPECT_EQ(after.waiting, 0U);
}

TEST(SemaphoreDeathTest, AskedForMoreThanItWillEverHaveIsMisuse) {
  EXPECT_DEATH(static_cast<void>(semaphore(2).acquire(3)), "more than it has in total");
}

TEST(SemaphoreDeathTest, DestroyedWhileTasksWaitIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        semaphore s(0);
        auto waits = [](semaphore& of) -> task<> { const auto permit = co_await of.acquire(); };
        spawn(l, waits(s));
        l.run();
      },
      "while tasks wait");
}

}  // namespace
}  // namespace looptask
