#include <looptask/event.hpp>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Event : in_a_world {
  event flag;
  task<> waits(std::string name) {
    co_await flag.wait();
    note(name);
  }
};

TEST_F(Event, LetsAllGoOnInTheOrderTheyCame) {
  for (const char* name : {"a", "b", "c"}) spawn(loop, waits(name));
  loop.call_later(seconds(1), [&] {
    EXPECT_EQ(flag.statistics().waiting, 3U);
    flag.set();
    flag.set();
    EXPECT_EQ(flag.statistics().waiting, 0U);
  });
  loop.run();
  EXPECT_EQ(order, (words{"a", "b", "c"}));
  EXPECT_TRUE(flag.is_set());
  EXPECT_EQ(flag.statistics().most_waiting, 3U);
}

TEST_F(Event, DoesNotHoldUpWhileItIsSet) {
  flag.set();
  spawn(loop, waits("a"));
  loop.run_once();
  EXPECT_EQ(order, (words{"a"}));
  EXPECT_EQ(flag.statistics().waited, 0U);
}

TEST_F(Event, WhoWaitedWhenItWasSetGoesOnThoughItIsClearedAtOnce) {
  spawn(loop, waits("early"));
  loop.call_later(seconds(1), [&] {
    flag.set();
    flag.clear();
    spawn(loop, waits("late"));
  });
  loop.call_later(seconds(2), [&] { note("set again"); });
  loop.call_later(seconds(2), [&] { flag.set(); });
  loop.run();
  EXPECT_EQ(order, (words{"early", "set again", "late"}));
}

TEST_F(Event, CancellationBeforeTheAwaitStrikesThoughItIsSet) {
  flag.set();
  cancel_scope scope(loop);
  scope.cancel();
  auto body = [](cancel_scope& inside, task<> work) -> task<bool> { co_return co_await inside.run(std::move(work)); };
  EXPECT_FALSE(loop.run(body(scope, waits("never"))));
  EXPECT_EQ(order, words{});
}

TEST_F(Event, CancellationWhileWaitingLeavesTheLine) {
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), waits("never"))));
  EXPECT_EQ(flag.statistics().waiting, 0U);
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(Event, CancellationAfterItWasSetComesTooLate) {
  cancel_scope scope(loop);
  outcome<> how;
  spawn(loop, scope, waits("a"), [&](outcome<> o) { how = std::move(o); });
  loop.call_later(seconds(1), [&] {
    flag.set();
    scope.cancel();
  });
  loop.run();
  EXPECT_EQ(order, (words{"a"}));
  EXPECT_TRUE(how.ok());
}

TEST_F(Event, ATaskThatIsDestroyedWithItsLoopLeavesTheLine) {
  spawn(loop, waits("never"));
  loop.run();  // nothing can happen any more
  EXPECT_EQ(flag.statistics().waiting, 1U);
  owned.reset();
  EXPECT_EQ(flag.statistics().waiting, 0U);
}

TEST_F(Event, ATaskThatNeverHasToWaitStillLetsOthersRun) {
  flag.set();
  int rounds = 0;
  bool other_ran = false;
  auto greedy = [](event& e, int& n, bool& other) -> task<> {
    while (!other) {
      co_await e.wait();
      ++n;
    }
  };
  spawn(loop, greedy(flag, rounds, other_ran));
  loop.call_soon([&] { other_ran = true; });
  loop.run();
  EXPECT_EQ(rounds, 257);
}

TEST(EventDeathTest, DestroyedWhileTasksWaitIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        auto e = std::make_unique<event>();
        auto waits = [](event& of) -> task<> { co_await of.wait(); };
        spawn(l, waits(*e));
        l.run();
        e.reset();
      },
      "event destroyed while tasks wait");
}

}  // namespace
}  // namespace looptask
