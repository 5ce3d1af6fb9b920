#include <looptask/future.hpp>

#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Future : in_a_world {
  task<> waits_for(future<int>& f) {
    try {
      note("got " + std::to_string(co_await f));
    } catch (const std::exception& e) {
      note(std::string("threw ") + e.what());
    } catch (const cancelled&) {
      note("cancelled");
      throw;
    }
  }
};

TEST_F(Future, GivesTheValueThatItsPromiseWasGivenWhenItIsGiven) {
  auto [given, awaited] = make_promise<int>(loop);
  loop.call_later(seconds(3), [&given] { given.set_value(42); });
  loop.run(waits_for(awaited));
  EXPECT_EQ(order, (words{"got 42"}));
  EXPECT_EQ(now(), seconds(3));
  EXPECT_FALSE(given);
}

TEST_F(Future, ThatIsReadyDoesNotWait) {
  auto [given, awaited] = make_promise<int>(loop);
  EXPECT_FALSE(awaited.ready());
  given.set_value(7);
  EXPECT_TRUE(awaited.ready());
  loop.run(waits_for(awaited));
  EXPECT_EQ(order, (words{"got 7"}));
}

TEST_F(Future, ThrowsTheErrorThatItsPromiseWasGiven) {
  auto [given, awaited] = make_promise<int>(loop);
  loop.call_later(seconds(1), [&given] { given.set_error(std::make_exception_ptr(std::runtime_error("no"))); });
  loop.run(waits_for(awaited));
  EXPECT_EQ(order, (words{"threw no"}));
}

TEST_F(Future, OfAPromiseThatIsDroppedThrowsBrokenPromise) {
  auto made = make_promise<int>(loop);
  promise<int> given = std::move(made.first);
  loop.call_later(seconds(1), [&given] { given = {}; });
  EXPECT_THROW(loop.run([](future<int> f) -> task<int> { co_return co_await f; }(std::move(made.second))), broken_promise);
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(Future, OfVoidAndOfAReference) {
  auto nothing = make_promise<>(loop);
  nothing.first.set_value();
  int there = 5;
  auto reference = make_promise<int&>(loop);
  reference.first.set_value(there);
  auto body = [](future<> a, future<int&> b) -> task<> {
    co_await a;
    int& same = co_await b;
    same = 6;
  };
  loop.run(body(std::move(nothing.second), std::move(reference.second)));
  EXPECT_EQ(there, 6);
}

TEST_F(Future, MovesAValueThatCannotBeCopied) {
  auto made = make_promise<std::unique_ptr<int>>(loop);
  made.first.set_value(std::make_unique<int>(9));
  auto body = [](future<std::unique_ptr<int>> f) -> task<int> {
    const std::unique_ptr<int> got = co_await f;
    co_return *got;
  };
  EXPECT_EQ(loop.run(body(std::move(made.second))), 9);
}

TEST_F(Future, InACancelledScopeThrowsBeforeItGivesAndGivesAfterwards) {
  auto [given, awaited] = make_promise<int>(loop);
  given.set_value(1);
  auto body = [](Future& t, future<int>& f) -> task<> {
    cancel_scope scope(t.loop);
    scope.cancel();
    EXPECT_FALSE(co_await scope.run(t.waits_for(f)));
    co_await t.waits_for(f);
  };
  loop.run(body(*this, awaited));
  EXPECT_EQ(order, (words{"cancelled", "got 1"}));
}

TEST_F(Future, WhoseWaitIsCancelledLeavesThePromiseUsableAndMayBeAwaitedAgain) {
  auto [given, awaited] = make_promise<int>(loop);
  auto body = [](Future& t, future<int>& f) -> task<> {
    EXPECT_FALSE(co_await move_on_after(seconds(1), t.waits_for(f)));
    co_await t.waits_for(f);
  };
  loop.call_later(seconds(2), [&given] {
    EXPECT_TRUE(given.wanted());
    given.set_value(3);
  });
  loop.run(body(*this, awaited));
  EXPECT_EQ(order, (words{"cancelled", "got 3"}));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(Future, DeliversAValueThatCameBeforeTheCancellation) {
  auto [given, awaited] = make_promise<int>(loop);
  auto body = [](Future& t, future<int>& f, promise<int>& p) -> task<> {
    cancel_scope scope(t.loop);
    t.loop.call_later(seconds(1), [&scope, &p] {
      p.set_value(4);
      scope.cancel();
    });
    auto inside = [](Future& of, future<int>& from) -> task<> {
      co_await of.waits_for(from);
      try {
        co_await yield();
      } catch (const cancelled&) {
        of.note("struck afterwards");
        throw;
      }
    };
    EXPECT_FALSE(co_await scope.run(inside(t, f)));
  };
  loop.run(body(*this, awaited, given));
  EXPECT_EQ(order, (words{"got 4", "struck afterwards"}));
}

TEST_F(Future, ThatIsDroppedLeavesAPromiseThatMakesNoValue) {
  auto made = make_promise<std::string>(loop);
  static_cast<void>(future<std::string>(std::move(made.second)));
  EXPECT_FALSE(made.first.wanted());
  made.first.set_value("nobody wants it");
}

struct refuses_to_be_made {
  explicit refuses_to_be_made(int n) : value(n) {
    if (n < 0) throw std::runtime_error("not negative");
  }
  int value;
};
TEST_F(Future, WhoseValueThrowsWhenItIsMadeMayStillBeGivenOne) {
  auto made = make_promise<refuses_to_be_made>(loop);
  EXPECT_THROW(made.first.set_value(-1), std::runtime_error);
  EXPECT_FALSE(made.second.ready());
  made.first.set_value(2);
  auto body = [](future<refuses_to_be_made> f) -> task<int> {
    const refuses_to_be_made got = co_await f;
    co_return got.value;
  };
  EXPECT_EQ(loop.run(body(std::move(made.second))), 2);
}

struct throws_when_moved {
  explicit throws_when_moved(int moves_before) : left(moves_before) {}
  throws_when_moved(throws_when_moved&& other) : left(other.left - 1) {
    if (left < 0) throw std::runtime_error("moved");
  }
  throws_when_moved& operator=(throws_when_moved&&) = delete;
  int left;
};
TEST_F(Future, WhoseValueThrowsWhenItIsMovedThrowsThat) {
  auto made = make_promise<throws_when_moved>(loop);
  made.first.set_value(0);
  auto body = [](future<throws_when_moved> f) -> task<> {
    const throws_when_moved got = co_await f;
    ADD_FAILURE() << got.left;
  };
  EXPECT_THROW(loop.run(body(std::move(made.second))), std::runtime_error);
}

TEST_F(Future, AndItsPromiseMayOutliveTheLoopWhileATaskWaits) {
  auto made = make_promise<std::string>(loop);
  auto body = [](future<std::string>& f) -> task<> { co_await f; };
  spawn(loop, body(made.second));
  loop.run_once();
  owned.reset();
  EXPECT_TRUE(made.first.wanted());
  made.first.set_value("too late, and rather long for a short string");
  EXPECT_TRUE(made.second.ready());
}

TEST_F(Future, ThatGoesWithItsLoopLeavesAPromiseThatIsNotWanted) {
  auto made = make_promise<int>(loop);
  auto body = [](future<int> f) -> task<> { co_await f; };
  spawn(loop, body(std::move(made.second)));
  loop.run_once();
  owned.reset();
  EXPECT_FALSE(made.first.wanted());
}

TEST_F(Future, WithAValueThatNobodyCameToTakeGoesWithItsLoop) {
  auto made = make_promise<std::string>(loop);
  auto body = [](future<std::string> f) -> task<> { co_await f; };
  spawn(loop, body(std::move(made.second)));
  loop.run_once();
  made.first.set_value("there, and the task is ready, but the loop ends: all is freed");
}

TEST_F(Future, GivesWayWhenTheTurnsBudgetIsSpent) {
  auto body = [](looptask::loop& l, int& others) -> task<> {
    for (int i = 0; i < 1000; ++i) {
      auto [given, awaited] = make_promise<int>(l);
      given.set_value(i);
      EXPECT_EQ(co_await awaited, i);
    }
    EXPECT_GE(others, 1);
  };
  int others = 0;
  spawn(loop, body(loop, others));
  loop.call_soon([&others] { ++others; });
  loop.run();
}

using FutureDeathTest = Future;
TEST_F(FutureDeathTest, MisuseAsserts) {
  auto [given, awaited] = make_promise<int>(loop);
  given.set_value(1);
  EXPECT_DEATH(given.set_value(2), "settled already");
  loop.run(waits_for(awaited));
  EXPECT_DEATH(loop.run(waits_for(awaited)), "after it has given its result");
  auto two = make_promise<int>(loop);
  EXPECT_DEATH(
      {
        spawn(loop, waits_for(two.second));
        spawn(loop, waits_for(two.second));
        loop.run_once();
      },
      "two tasks at once");
}

}  // namespace
}  // namespace looptask
