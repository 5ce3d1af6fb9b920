#include <looptask/condition.hpp>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Condition : in_a_world {
  mutex m;
  condition changed;
  cancel_scope scope{loop};
  int stock = 0;

  task<> waits_once(std::string name, duration then = duration(0)) {
    auto held = co_await m.lock();
    try {
      co_await changed.wait(held);
      note(name + " notified");
    } catch (const cancelled&) {
      note(name + " cancelled");
      check_locked(held);
      throw;
    }
    check_locked(held);
    if (then > duration(0)) co_await sleep_for(then);
  }
  task<> takes(std::string name) {
    auto held = co_await m.lock();
    while (stock == 0) co_await changed.wait(held);
    --stock;
    note(name);
  }
  task<> holds(std::string name, duration d) {
    const auto held = co_await m.lock();
    note(name);
    co_await sleep_for(d);
  }
  void check_locked(const mutex::guard& held) const {
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(m.statistics().locked);
  }
  void TearDown() override {
    in_a_world::TearDown();
    EXPECT_FALSE(m.statistics().locked);
    EXPECT_EQ(m.statistics().waiting, 0U);
    EXPECT_EQ(changed.statistics().waiting, 0U);
  }
};

TEST_F(Condition, GivesTheMutexUpWhileItWaitsAndHasItAgainAfterwards) {
  spawn(loop, waits_once("a"));
  loop.call_later(seconds(1), [&] {
    EXPECT_FALSE(m.statistics().locked);
    EXPECT_EQ(changed.statistics().waiting, 1U);
    auto held = m.try_lock();
    changed.notify_one();
    EXPECT_EQ(m.statistics().waiting, 1U) << "it waits for the mutex now";
    note("unlocks");
  });
  loop.run();
  EXPECT_EQ(order, (words{"unlocks", "a notified"}));
}

TEST_F(Condition, NotifyOneReachesTheFirst) {
  for (const char* name : {"a", "b", "c"}) spawn(loop, waits_once(name));
  loop.call_later(seconds(1), [&] { changed.notify_one(); });
  loop.call_later(seconds(2), [&] {
    EXPECT_EQ(order, (words{"a notified"}));
    EXPECT_EQ(changed.statistics().waiting, 2U);
    changed.notify_one();
    changed.notify_one();
    changed.notify_one();  // to nobody
  });
  loop.run();
  EXPECT_EQ(order, (words{"a notified", "b notified", "c notified"}));
  EXPECT_EQ(changed.statistics().notified, 3U);
}

TEST_F(Condition, NotifyAllLetsThemGoOnOneAfterTheOther) {
  for (const char* name : {"a", "b", "c"}) spawn(loop, waits_once(name, seconds(1)));
  loop.call_later(seconds(1), [&] { changed.notify_all(); });
  loop.call_later(milliseconds(1500), [&] {
    EXPECT_EQ(order, (words{"a notified"}));
    EXPECT_EQ(m.statistics().waiting, 2U);
  });
  loop.run();
  EXPECT_EQ(order, (words{"a notified", "b notified", "c notified"}));
  EXPECT_EQ(now(), seconds(4));
}

TEST_F(Condition, ANotificationIsForWhoWaitsAtThatMoment) {
  changed.notify_one();
  changed.notify_all();
  spawn(loop, waits_once("late"));
  loop.run();
  EXPECT_EQ(order, words{});
  EXPECT_EQ(changed.statistics().waiting, 1U);
  owned.reset();
}

TEST_F(Condition, WhoIsNotifiedDoesNotOvertakeThoseThatWaitForTheMutex) {
  spawn(loop, waits_once("a"));
  loop.call_later(seconds(1), [&] {
    spawn(loop, holds("first", seconds(1)));
    spawn(loop, holds("second", seconds(1)));
  });
  loop.call_later(milliseconds(1500), [&] { changed.notify_one(); });
  loop.call_later(milliseconds(1600), [&] { spawn(loop, holds("third", seconds(1))); });
  loop.run();
  EXPECT_EQ(order, (words{"first", "second", "a notified", "third"}));
}

TEST_F(Condition, CancellationBeforeTheAwaitKeepsTheMutex) {
  auto body = [](Condition& test) -> task<> {
    auto held = co_await test.m.lock();
    test.scope.cancel();
    bool struck = false;
    try {
      co_await test.changed.wait(held);
    } catch (const cancelled&) {
      struck = true;
    }
    EXPECT_TRUE(struck);
    test.check_locked(held);
    EXPECT_EQ(test.changed.statistics().waited, 0U);
  };
  spawn(loop, scope, body(*this), [](outcome<> o) { EXPECT_TRUE(o.ok()); });
  loop.run();
}

TEST_F(Condition, CancellationWhileItWaitsTakesTheFreeMutexFirst) {
  spawn(loop, scope, waits_once("a"), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  loop.call_later(seconds(1), [&] {
    scope.cancel();
    EXPECT_FALSE(m.try_lock().has_value());
  });
  loop.run();
  EXPECT_EQ(order, (words{"a cancelled"}));
}

TEST_F(Condition, CancellationWhileItWaitsIsThrownWhenTheLockedMutexIsItsOwnAgain) {
  spawn(loop, scope, waits_once("a"), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  loop.call_later(seconds(1), [&] { spawn(loop, holds("other", seconds(2))); });
  loop.call_later(seconds(2), [&] {
    scope.cancel();
    scope.cancel();
    changed.notify_one();  // to nobody: "a" has left
  });
  loop.run();
  EXPECT_EQ(order, (words{"other", "a cancelled"}));
  EXPECT_EQ(now(), seconds(3));
  EXPECT_EQ(changed.statistics().notified, 0U);
}

TEST_F(Condition, ANotifiedTaskThatIsCancelledBeforeItHasTheMutexPassesItsNotificationOn) {
  spawn(loop, scope, waits_once("a"), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  spawn(loop, waits_once("b"));
  spawn(loop, waits_once("c"));
  loop.call_later(seconds(1), [&] {
    auto held = m.try_lock();
    changed.notify_one();
    scope.cancel();
  });
  loop.call_later(seconds(2), [&] {
    EXPECT_EQ(order, (words{"a cancelled", "b notified"}));
    changed.notify_one();
  });
  loop.run();
  EXPECT_EQ(order.back(), "c notified");
}

TEST_F(Condition, ATaskNotifiedWithAllHasNothingToPassOn) {
  auto waits_again = [](Condition& test) -> task<> {
    auto held = co_await test.m.lock();
    co_await test.changed.wait(held);
    test.note("b notified");
    co_await test.changed.wait(held);
    test.note("b notified again");
  };
  spawn(loop, waits_again(*this));
  spawn(loop, waits_once("c", seconds(2)));
  spawn(loop, scope, waits_once("a"), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  loop.call_later(seconds(1), [&] { changed.notify_all(); });
  loop.call_later(seconds(2), [&] {  // "c" has the mutex, "a" stands in its line, "b" waits once more
    EXPECT_EQ(m.statistics().waiting, 1U);
    EXPECT_EQ(changed.statistics().waiting, 1U);
    scope.cancel();
    EXPECT_EQ(changed.statistics().waiting, 1U);
  });
  loop.run();
  EXPECT_EQ(order, (words{"b notified", "c notified", "a cancelled"}));
  owned.reset();
}

TEST_F(Condition, CancellationWithTheMutexAtHandComesTooLate) {
  spawn(loop, scope, waits_once("a", seconds(1)), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  spawn(loop, waits_once("b"));
  loop.call_later(seconds(1), [&] {
    changed.notify_one();  // the mutex is free: all that "a" waited for is there
    scope.cancel();
  });
  loop.run();
  EXPECT_EQ(order, (words{"a notified"}));
  EXPECT_EQ(now(), seconds(1)) << "it strikes at the next await";
  owned.reset();
}

TEST_F(Condition, ProducersAndConsumersMeet) {
  for (const char* name : {"a", "b", "c"}) spawn(loop, takes(name));
  auto puts = [](Condition& test) -> task<> {
    for (int i = 0; i < 3; ++i) {
      co_await sleep_for(seconds(1));
      auto held = co_await test.m.lock();
      ++test.stock;
      test.changed.notify_one();
    }
  };
  spawn(loop, puts(*this));
  loop.run();
  EXPECT_EQ(order, (words{"a", "b", "c"}));
  EXPECT_EQ(stock, 0);
}

TEST_F(Condition, TasksThatAreDestroyedWithTheirLoopLeaveTheMutexUnlocked) {
  for (const bool locked : {false, true}) {
    for (const bool cancels : {false, true}) {
      sim::world apart(1);
      auto own = std::make_unique<looptask::loop>(apart);
      cancel_scope inside(*own);
      for (const char* name : {"a", "b"}) spawn(*own, inside, waits_once(name), [](outcome<>) { FAIL(); });
      std::optional<mutex::guard> held;
      own->call_later(seconds(1), [&] {
        if (locked) held = m.try_lock();
        changed.notify_one();
        if (cancels) inside.cancel();
        own->stop();
      });
      own->run();
      own.reset();
      EXPECT_EQ(m.statistics().waiting, 0U);
      EXPECT_EQ(changed.statistics().waiting, 0U);
      EXPECT_EQ(m.statistics().locked, locked);
    }
  }
  EXPECT_EQ(order, words{});
}

TEST(ConditionDeathTest, WaitingWithoutTheMutexIsMisuse) {
  EXPECT_DEATH(
      {
        mutex m;
        condition c;
        auto held = m.try_lock();
        held->unlock();
        static_cast<void>(c.wait(*held));
      },
      "without the mutex");
}

TEST(ConditionDeathTest, DestroyedWhileTasksWaitIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        mutex m;
        loop l(world);
        auto c = std::make_unique<condition>();
        auto waits = [](mutex& with, condition& of) -> task<> {
          auto held = co_await with.lock();
          co_await of.wait(held);
        };
        spawn(l, waits(m, *c));
        l.run();
        c.reset();
      },
      "condition destroyed while tasks wait");
}

}  // namespace
}  // namespace looptask
