#include <looptask/task_handle.hpp>

#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

struct TaskHandle : in_a_world {
  task<int> works(duration d, std::string name) {
    try {
      co_await sleep_for(d);
    } catch (const cancelled&) {
      note(name + " cancelled");
      throw;
    }
    note(name);
    co_return 7;
  }
  static task<> fails_after(duration d) {
    co_await sleep_for(d);
    throw std::runtime_error("boom");
  }
  task<> joins(task_handle<int>& handle) {
    try {
      note("joined " + std::to_string(co_await handle.join()));
    } catch (const task_cancelled&) {
      note("it was cancelled");
    } catch (const cancelled&) {
      note("waiter cancelled");
      throw;
    }
  }
  void collect_errors() {
    loop.on_error([this](std::exception_ptr error) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& e) {
        note(std::string("reported ") + e.what());
      }
    });
  }
};

TEST_F(TaskHandle, TheTaskRunsAtOnceAndIsJoinedLater) {
  task_handle<int> handle = start_task(loop, works(seconds(2), "work"));
  EXPECT_FALSE(handle.done());
  loop.call_later(seconds(5), [&] {
    EXPECT_TRUE(handle.done());
    note("later");
  });
  loop.run();
  loop.run(joins(handle));
  EXPECT_EQ(order, (words{"work", "later", "joined 7"}));
}

TEST_F(TaskHandle, JoiningOneThatRunsWaitsForIt) {
  task_handle<int> handle = start_task(loop, works(seconds(2), "work"));
  loop.run(joins(handle));
  EXPECT_EQ(order, (words{"work", "joined 7"}));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(TaskHandle, JoiningRethrowsWhatTheTaskHasThrown) {
  auto body = [](looptask::loop& l) -> task<> {
    task_handle<> handle = start_task(l, fails_after(seconds(1)));
    co_await handle;
  };
  EXPECT_THROW(loop.run(body(loop)), std::runtime_error);
}

TEST_F(TaskHandle, CancelReachesTheTaskAndNobodyElse) {
  auto body = [](TaskHandle& t) -> task<> {
    task_handle<int> one = start_task(t.loop, t.works(seconds(2), "one"));
    task_handle<int> other = start_task(t.loop, t.works(seconds(2), "other"));
    one.cancel();
    one.cancel();
    co_await t.joins(one);
    co_await t.joins(other);
    other.cancel();
  };
  loop.run(body(*this));
  // A task that has not begun begins, and finds its first await cancelled.
  EXPECT_EQ(order, (words{"one cancelled", "it was cancelled", "other", "joined 7"}));
}

TEST_F(TaskHandle, ATaskThatHasAResultAlthoughItWasCancelledGivesIt) {
  auto stubborn = []() -> task<int> {
    co_await shield([]() -> task<> { co_await sleep_for(seconds(1)); }());
    co_return 8;
  };
  task_handle<int> handle = start_task(loop, stubborn());
  loop.run_once();
  handle.cancel();
  loop.run(joins(handle));
  EXPECT_EQ(order, (words{"joined 8"}));
}

TEST_F(TaskHandle, CancellingTheWaiterLeavesTheTaskAloneAndTheHandleMayBeJoinedAgain) {
  auto body = [](TaskHandle& t) -> task<> {
    task_handle<int> handle = start_task(t.loop, t.works(seconds(3), "work"));
    EXPECT_FALSE(co_await move_on_after(seconds(1), t.joins(handle)));
    EXPECT_FALSE(handle.done());
    co_await t.joins(handle);
  };
  loop.run(body(*this));
  EXPECT_EQ(order, (words{"waiter cancelled", "work", "joined 7"}));
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(TaskHandle, JoiningInACancelledScopeThrowsAlsoWhenTheTaskIsDone) {
  auto body = [](TaskHandle& t) -> task<> {
    task_handle<int> handle = start_task(t.loop, t.works(seconds(0), "work"));
    co_await sleep_for(seconds(1));
    LT_REQUIRE(handle.done());
    cancel_scope scope(t.loop);
    scope.cancel();
    EXPECT_FALSE(co_await scope.run(t.joins(handle)));
    co_await t.joins(handle);
  };
  loop.run(body(*this));
  EXPECT_EQ(order, (words{"work", "waiter cancelled", "joined 7"}));
}

TEST_F(TaskHandle, AResultThatCameBeforeTheWaitersCancellationIsDelivered) {
  auto made = [](TaskHandle& t) -> task<> {
    cancel_scope scope(t.loop);
    auto cancels_at_its_end = [](cancel_scope& s) -> task<int> {
      co_await sleep_for(seconds(1));
      this_loop().call_soon([&s] { s.cancel(); });  // when the waiter is ready, before it has run
      co_return 9;
    };
    task_handle<int> handle = start_task(t.loop, cancels_at_its_end(scope));
    EXPECT_TRUE(co_await scope.run(t.joins(handle)));
    EXPECT_TRUE(scope.cancel_called());
  };
  loop.run(made(*this));
  EXPECT_EQ(order, (words{"joined 9"}));
}

TEST_F(TaskHandle, DestroyingTheHandleCancelsTheTaskAndLetsItEnd) {
  auto cleans_up = [](TaskHandle& t) -> task<int> {
    bool struck = false;
    try {
      co_await t.works(hours(1), "work");
    } catch (const cancelled&) {
      struck = true;
    }
    co_await shield([]() -> task<> { co_await sleep_for(seconds(2)); }());
    t.note(struck ? "cleaned up" : "not cancelled");
    co_await yield();
    co_return 1;
  };
  {
    task_handle<int> handle = start_task(loop, cleans_up(*this));
    loop.run_once();
  }
  loop.run();
  EXPECT_EQ(order, (words{"work cancelled", "cleaned up"}));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(TaskHandle, DetachLetsTheTaskRun) {
  task_handle<int> handle = start_task(loop, works(seconds(2), "work"));
  handle.detach();
  EXPECT_FALSE(handle);
  loop.run();
  EXPECT_EQ(order, (words{"work"}));
}

TEST_F(TaskHandle, AnExceptionThatNobodyWillSeeIsReported) {
  collect_errors();
  task_handle<> detached = start_task(loop, fails_after(seconds(1)));
  detached.detach();
  {
    task_handle<> done = start_task(loop, fails_after(seconds(0)));
    loop.run();
    EXPECT_TRUE(done.done());
    EXPECT_EQ(order, (words{"reported boom"}));
  }
  EXPECT_EQ(order, (words{"reported boom", "reported boom"}));
}

TEST_F(TaskHandle, AnExceptionOfATaskWhoseHandleIsGoneIsReported) {
  collect_errors();
  auto fails_when_cancelled = []() -> task<> {
    try {
      co_await sleep_for(hours(1));
    } catch (const cancelled&) {
      throw std::runtime_error("clean-up failed");
    }
  };
  static_cast<void>(start_task(loop, fails_when_cancelled()));
  loop.run();
  EXPECT_EQ(order, (words{"reported clean-up failed"}));
}

TEST_F(TaskHandle, AScopeCancelsTheTasksThatWereStartedInIt) {
  cancel_scope scope(loop);
  task_handle<int> a = start_task(scope, works(hours(1), "a"));
  task_handle<int> b = start_task(scope, works(seconds(1), "b"));
  loop.call_later(seconds(2), [&] { scope.cancel(); });
  loop.run(joins(b));
  loop.run(joins(a));
  EXPECT_EQ(order, (words{"b", "joined 7", "a cancelled", "it was cancelled"}));
  task_handle<int> late = start_task(scope, works(hours(1), "late"));
  loop.run(joins(late));
  EXPECT_EQ(order.back(), "it was cancelled");
}

TEST_F(TaskHandle, AScopeMayGoBeforeTheHandlesOfTasksThatAreDone) {
  task_handle<int> handle;
  {
    cancel_scope scope(loop);
    handle = start_task(scope, works(seconds(1), "work"));
    loop.run();
  }
  loop.run(joins(handle));
  EXPECT_EQ(order, (words{"work", "joined 7"}));
}

TEST_F(TaskHandle, TheTasksParametersAreGoneWhenItIsDone) {
  auto holds = std::make_shared<int>(1);
  auto body = [](std::shared_ptr<int> p) -> task<int> { co_return *p; };
  task_handle<int> handle = start_task(loop, body(holds));
  loop.run();
  EXPECT_TRUE(handle.done());
  EXPECT_EQ(holds.use_count(), 1);
}

TEST_F(TaskHandle, AClosureIsKeptAsLongAsItsTask) {
  task_handle<int> handle = start_task(loop, [kept = std::make_unique<int>(3)]() -> task<int> {
    co_await sleep_for(seconds(1));
    co_return *kept;
  });
  loop.run(joins(handle));
  EXPECT_EQ(order, (words{"joined 3"}));
}

TEST_F(TaskHandle, TheHandleMayBeDestroyedByTheTaskItself) {
  auto owned_handle = std::make_unique<task_handle<int>>();
  auto body = [](std::unique_ptr<task_handle<int>>& own, TaskHandle& t) -> task<int> {
    own.reset();
    co_return co_await t.works(seconds(1), "own");
  };
  *owned_handle = start_task(loop, body(owned_handle, *this));
  loop.run();
  EXPECT_EQ(order, (words{"own cancelled"}));
}

TEST_F(TaskHandle, AndByWhatTheTaskLeavesBehind) {
  auto body = [](std::unique_ptr<task_handle<int>> own) -> task<int> {
    co_await yield();
    co_return own ? 1 : 0;
  };
  auto own = std::make_unique<task_handle<int>>();
  task_handle<int>& place = *own;
  place = start_task(loop, body(std::move(own)));
  loop.run();
}

TEST_F(TaskHandle, TaskAndHandleGoWithTheLoopInAnyOrder) {
  task_handle<int> outlives = start_task(loop, works(hours(1), "outlives"));
  task_handle<int> done = start_task(loop, works(seconds(0), "done"));
  task_handle<int> never_begun;
  auto holder = [](TaskHandle& t) -> task<> {
    task_handle<int> inner = start_task(t.loop, t.works(hours(1), "inner"));
    co_await inner;
  };
  spawn(loop, holder(*this));
  loop.call_later(seconds(1), [&] { loop.stop(); });
  loop.run();
  never_begun = start_task(loop, works(hours(1), "never begun"));
  owned.reset();
  EXPECT_TRUE(outlives.done());
  EXPECT_TRUE(done.done());
  EXPECT_TRUE(never_begun.done());
  outlives.cancel();
  EXPECT_EQ(order, (words{"done"}));
}

TEST_F(TaskHandle, ATaskThatIsStartedWhileTheLoopGoesIsDestroyed) {
  struct starts_at_end {
    explicit starts_at_end(TaskHandle& t, task_handle<int>& h) : test(t), handle(h) {}
    starts_at_end(const starts_at_end&) = delete;
    starts_at_end& operator=(const starts_at_end&) = delete;
    ~starts_at_end() {
      handle = start_task(test.loop, test.works(hours(1), "late"));
      static_cast<void>(start_task(test.loop, test.works(hours(1), "lost")));
    }
    TaskHandle& test;
    task_handle<int>& handle;
  };
  task_handle<int> late;
  auto body = [](TaskHandle& t, task_handle<int>& h) -> task<> {
    const starts_at_end at_end(t, h);
    co_await sleep_for(hours(1));
  };
  spawn(loop, body(*this, late));
  loop.run_once();
  owned.reset();
  EXPECT_TRUE(late.done());
  EXPECT_EQ(order, words{});
}

struct throws_when_moved {
  explicit throws_when_moved(int moves_before) : left(moves_before) {}
  throws_when_moved(throws_when_moved&& other) : left(other.left - 1) {
    if (left < 0) throw std::runtime_error("moved");
  }
  throws_when_moved& operator=(throws_when_moved&&) = delete;
  int left;
};
TEST_F(TaskHandle, AResultThatThrowsWhenItIsMovedIsThatException) {
  bool arrived = false;
  int heard = 0;
  for (int moves = 0; !arrived; ++moves) {
    ASSERT_LT(moves, 100);
    auto body = [](looptask::loop& l, int allowed, bool& there) -> task<> {
      auto makes = [](int n) -> task<throws_when_moved> { co_return throws_when_moved(n); };
      task_handle<throws_when_moved> handle = start_task(l, makes(allowed));
      const throws_when_moved got = co_await handle;
      there = got.left >= 0;
    };
    try {
      loop.run(body(loop, moves, arrived));
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "moved");
      ++heard;
    }
  }
  EXPECT_GE(heard, 2);
}

TEST_F(TaskHandle, AHundredThousandInAChainEndWithAFlatStack) {
  struct link {
    static task<int> after(task_handle<int> before) { co_return 1 + co_await before; }
    static task<int> first() { co_return 0; }
  };
  task_handle<int> last = start_task(loop, link::first());
  for (int i = 0; i < 100'000; ++i) last = start_task(loop, link::after(std::move(last)));
  EXPECT_EQ(loop.run(link::after(std::move(last))), 100'001);
}

using TaskHandleDeathTest = TaskHandle;
TEST_F(TaskHandleDeathTest, MisuseAsserts) {
  task_handle<int> handle = start_task(loop, works(seconds(0), "work"));
  loop.run(joins(handle));
  EXPECT_DEATH(loop.run(joins(handle)), "after it has given its result");
  task_handle<int> empty;
  EXPECT_DEATH(empty.cancel(), "empty");
  EXPECT_DEATH(loop.run(with_task_group([this](task_group& g) -> task<> {
    static_cast<void>(start_task(g.scope(), works(seconds(1), "x")));
    co_return;
  })),
               "start it in a task_group");
}

}  // namespace
}  // namespace looptask
