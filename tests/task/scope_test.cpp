#include <looptask/scope.hpp>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Scope : in_a_world {};

task<int> takes(duration d) {
  co_await sleep_for(d);
  co_return 7;
}
task<> rests(duration d) { co_await sleep_for(d); }

TEST_F(Scope, WorkThatIsInTimeDeliversItsResult) {
  EXPECT_EQ(loop.run(with_timeout(seconds(5), takes(seconds(4)))), 7);
  EXPECT_EQ(loop.run(move_on_after(seconds(5), takes(seconds(4)))), 7);
  EXPECT_TRUE(loop.run(move_on_after(seconds(5), rests(seconds(4)))));
  EXPECT_EQ(now(), seconds(12));
}

TEST_F(Scope, WorkThatIsLateIsCancelledAtTheDeadline) {
  EXPECT_THROW(loop.run(with_timeout(seconds(5), takes(seconds(6)))), timeout_error);
  EXPECT_EQ(now(), seconds(5));
  EXPECT_EQ(loop.run(move_on_after(seconds(5), takes(seconds(6)))), std::nullopt);
  EXPECT_EQ(now(), seconds(10));
  EXPECT_FALSE(loop.run(move_on_at(loop.now(), rests(seconds(6)))));
  EXPECT_EQ(now(), seconds(10));
}

// The sleep was armed after the deadline, so at one instant the deadline comes first; and the other way round.
TEST_F(Scope, AtTheSameInstantTheOneArmedFirstWins) {
  EXPECT_FALSE(loop.run(move_on_after(seconds(5), rests(seconds(5)))));
  auto sleeps_first = [](looptask::loop& l) -> task<bool> {
    cancel_scope scope(l);
    auto arm_later = [](cancel_scope& s) -> task<> {
      co_await sleep_for(seconds(1));
      s.cancel_after(seconds(4));
    };
    spawn(l, arm_later(scope));
    co_return co_await scope.run(rests(seconds(5)));
  };
  EXPECT_TRUE(loop.run(sleeps_first(loop)));
}

// The value is there when the deadline passes in the same turn, behind it.
TEST_F(Scope, AResultThatCameInTheTurnOfTheDeadlineBeforeItIsNoTimeout) {
  semaphore gate(1);
  auto closed = gate.try_acquire();
  loop.call_later(seconds(5), [&] { closed.reset(); });
  auto passes = [](semaphore& s) -> task<int> {
    const auto permit = co_await s.acquire();
    co_return 7;
  };
  EXPECT_EQ(loop.run(with_timeout(seconds(5), passes(gate))), 7);
  EXPECT_EQ(now(), seconds(5));
}

task<> tries_again_and_again(std::vector<std::string>& order) {
  for (int i = 0; i < 3; ++i) {
    bool struck = false;
    try {
      co_await sleep_for(hours(1));
    } catch (const cancelled&) {
      struck = true;
    }
    order.push_back(struck ? "struck" : "slept");
  }
}
TEST_F(Scope, CancellationIsLevelTriggered) {
  EXPECT_TRUE(loop.run(move_on_after(seconds(1), tries_again_and_again(order))));
  EXPECT_EQ(order, (words{"struck", "struck", "struck"}));
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(Scope, AScopeMayBeCancelledBeforeAnythingRunsInIt) {
  auto body = [](looptask::loop& l, std::vector<std::string>& o) -> task<> {
    cancel_scope scope(l);
    scope.cancel();
    const bool done = co_await scope.run(tries_again_and_again(o));
    LT_REQUIRE(done);
    const bool rested = co_await scope.run(rests(seconds(1)));
    LT_REQUIRE(!rested);
  };
  loop.run(body(loop, order));
  EXPECT_EQ(order, (words{"struck", "struck", "struck"}));
}

TEST_F(Scope, TheOutermostCancelledScopeAbsorbs) {
  auto inner = [](std::vector<std::string>& o) -> task<> {
    const bool done = co_await move_on_after(hours(2), rests(hours(3)));
    o.push_back(done ? "inner done" : "inner absorbed");  // not reached: the cancellation belongs to the outer scope
  };
  EXPECT_FALSE(loop.run(move_on_after(hours(1), inner(order))));
  EXPECT_EQ(order, words{});
  auto both = [](std::vector<std::string>& o) -> task<> {
    static_cast<void>(co_await move_on_after(hours(1), rests(hours(3))));
    o.push_back("not reached");
  };
  EXPECT_FALSE(loop.run(move_on_after(hours(1), both(order))));
  EXPECT_EQ(order, words{});
}

TEST_F(Scope, AnInnerTimeoutLeavesTheOuterScopeAlone) {
  auto body = [](std::vector<std::string>& o) -> task<> {
    const bool done = co_await move_on_after(seconds(1), rests(hours(1)));
    o.push_back(done ? "done" : "moved on");
    co_await sleep_for(seconds(1));
    o.push_back("slept");
  };
  EXPECT_TRUE(loop.run(move_on_after(seconds(5), body(order))));
  EXPECT_EQ(order, (words{"moved on", "slept"}));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(Scope, AShieldKeepsCancellationOutUntilItsEnd) {
  auto body = [](std::vector<std::string>& o) -> task<> {
    co_await shield(rests(seconds(10)));
    o.push_back("shielded work done");
    co_await sleep_for(seconds(1));
    o.push_back("not reached");
  };
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), body(order))));
  EXPECT_EQ(order, (words{"shielded work done"}));
  EXPECT_EQ(now(), seconds(10));
}

TEST_F(Scope, AShieldedScopeCanItselfBeCancelled) {
  auto body = [](looptask::loop& l) -> task<> {
    cancel_scope clean_up(l, cancel_scope::shielding::shielded);
    clean_up.cancel_after(seconds(3));
    const bool done = co_await clean_up.run(rests(hours(1)));
    LT_REQUIRE(!done);
  };
  EXPECT_TRUE(loop.run(move_on_after(seconds(1), body(loop))));
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(Scope, AResultThatCameFirstIsDeliveredAndTheNextAwaitStrikes) {
  auto body = [](std::vector<std::string>& o) -> task<> {
    co_await sleep_until(monotonic_time(seconds(1)));
    o.push_back("slept");
    co_await yield();
    o.push_back("not reached");
  };
  cancel_scope scope(loop);
  outcome<> how;
  spawn(loop, scope, body(order), [&](outcome<> o) { how = std::move(o); });
  loop.call_soon([&] {  // after the task has begun to sleep: behind its timer, at the same instant
    loop.call_at(monotonic_time(seconds(1)), [&] {
      note("cancel");
      scope.cancel();
    });
  });
  loop.run();
  EXPECT_EQ(order, (words{"cancel", "slept"}));
  EXPECT_THROW(std::move(how).get(), cancelled);
}

TEST_F(Scope, CancellationOfAScopeReachesAllTasksSpawnedInIt) {
  cancel_scope scope(loop);
  int ended = 0;
  for (int i = 0; i < 3; ++i) {
    spawn(loop, scope, rests(hours(1)), [&](outcome<> o) {
      EXPECT_THROW(std::move(o).get(), cancelled);
      ++ended;
    });
  }
  loop.call_later(seconds(1), [&] { scope.cancel(); });
  loop.run();
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(Scope, CancelTwiceIsCancelOnce) {
  cancel_scope scope(loop);
  int ended = 0;
  spawn(loop, scope, rests(hours(1)), [&](outcome<>) { ++ended; });
  loop.call_later(seconds(1), [&] {
    scope.cancel();
    scope.cancel();
  });
  loop.run();
  scope.cancel();
  EXPECT_EQ(ended, 1);
}

TEST_F(Scope, TasksSpawnedInAScopeEndWithTheLoop) {
  auto alive = std::make_shared<int>(0);
  cancel_scope scope(loop);
  auto body = [](std::shared_ptr<int>) -> task<> { co_await sleep_for(hours(1)); };
  spawn(loop, scope, body(alive), [](outcome<>) { FAIL() << "nobody is told"; });
  loop.call_soon([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(alive.use_count(), 2);
  owned.reset();
  EXPECT_EQ(alive.use_count(), 1);
}

// The younger ones go first: they may refer to what lies in the frames of the older ones.
TEST_F(Scope, ATaskMayKeepTheScopeAndTheSemaphoreOfTasksItSpawned) {
  auto waits = [](semaphore& s) -> task<> { const auto permit = co_await s.acquire(); };
  auto body = [waits](looptask::loop& l) -> task<> {
    cancel_scope scope(l);
    semaphore none(0);
    spawn(l, scope, waits(none), [](outcome<>) { FAIL() << "nobody is told"; });
    spawn(l, waits(none));
    co_await sleep_for(hours(1));
  };
  spawn(loop, body(loop));
  loop.call_later(seconds(1), [&] { loop.stop(); });
  loop.run();
  owned.reset();
}

void spawns_in(const bool group) {
  sim::world world(1);
  loop l(world);
  auto in_group = [](loop& where) -> task<> {
    co_await with_task_group([&where](task_group& g) -> task<> {
      spawn(where, g.scope(), rests(seconds(1)), [](outcome<>) {});
      co_return;
    });
  };
  auto in_scope = [](loop& where) -> task<> {
    cancel_scope scope(where);
    auto inside = [](loop& on, cancel_scope& s) -> task<> {
      spawn(on, s, rests(seconds(1)), [](outcome<>) {});
      co_return;
    };
    static_cast<void>(co_await scope.run(inside(where, scope)));
  };
  l.run(group ? in_group(l) : in_scope(l));
}
TEST(ScopeDeathTest, SpawnInTheScopeOfARunningTaskIsMisuse) { EXPECT_DEATH(spawns_in(false), "start it in a task_group"); }
TEST(ScopeDeathTest, SpawnInTheScopeOfAGroupIsMisuse) { EXPECT_DEATH(spawns_in(true), "start it in a task_group"); }
TEST(ScopeDeathTest, RunInAScopeWithSpawnedTasksIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        cancel_scope scope(l);
        spawn(l, scope, rests(seconds(1)), [](outcome<>) {});
        auto body = [](cancel_scope& s) -> task<> { static_cast<void>(co_await s.run(rests(seconds(1)))); };
        l.run(body(scope));
      },
      "scope that is in use");
}

TEST_F(Scope, ErrorsPassThroughACancelledScope) {
  auto body = []() -> task<> {
    try {
      co_await sleep_for(hours(1));
    } catch (const cancelled&) {
      throw std::runtime_error("clean-up failed");
    }
  };
  EXPECT_THROW(static_cast<void>(loop.run(move_on_after(seconds(1), body()))), std::runtime_error);
}

task<> nested_scopes(int levels) {
  if (levels == 0) {
    co_await sleep_for(hours(1));
  } else {
    static_cast<void>(co_await move_on_after(hours(2), nested_scopes(levels - 1)));
  }
}
TEST_F(Scope, CancellationThroughAHundredThousandScopesNeedsNoStack) {
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), nested_scopes(100'000))));
}

}  // namespace
}  // namespace looptask
