#include <looptask/when_all.hpp>
#include <looptask/when_any.hpp>

#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

struct throws_when_moved {
  explicit throws_when_moved(int moves_before) : left(moves_before) {}
  throws_when_moved(throws_when_moved&& other) : left(other.left - 1) {
    if (left < 0) throw std::runtime_error("moved");
  }
  int left;
};

struct When : in_a_world {
  task<int> gives(int value, duration after) {
    try {
      co_await sleep_for(after);
    } catch (const cancelled&) {
      note(std::to_string(value) + " cancelled");
      throw;
    }
    co_return value;
  }
  static task<std::string> text(std::string value, duration after) {
    co_await sleep_for(after);
    co_return value;
  }
  static task<> nothing(duration after) { co_await sleep_for(after); }
  static task<int> fails(std::string what, duration after) {
    co_await sleep_for(after);
    throw std::runtime_error(what);
  }
  static task<int> fails_when_cancelled(std::string what) {
    try {
      co_await sleep_for(hours(1));
    } catch (const cancelled&) {
      throw std::runtime_error(what);
    }
    co_return 0;
  }
  task<int> ends_late(int value, duration after_cancellation) {
    try {
      co_await sleep_for(hours(1));
    } catch (const cancelled&) {
      note("struck");
    }
    co_await shield(nothing(after_cancellation));
    co_return value;
  }
  static task<int> gives_way_after(duration after_cancellation) {
    bool struck = false;
    try {
      co_await sleep_for(hours(1));
    } catch (const cancelled&) {
      struck = true;
    }
    co_await shield(nothing(after_cancellation));
    if (struck) throw cancelled();
    co_return 0;
  }
  static task<throws_when_moved> moved(int moves) {
    co_await yield();
    co_return throws_when_moved(moves);
  }
  template <class... T>
  static std::vector<task<int>> these(T... work) {
    std::vector<task<int>> all;
    (all.push_back(std::move(work)), ...);
    return all;
  }
  // Runs `work` in a scope that is cancelled after a second; says whether it was absorbed there.
  template <class T>
  std::optional<T> cancelled_after_a_second(task<T> work) {
    return loop.run(move_on_after(seconds(1), std::move(work)));
  }
};

TEST_F(When, AllGivesEachResultInTheOrderOfTheTasks) {
  const auto all = loop.run(when_all(gives(1, seconds(2)), text("two", seconds(1)), nothing(seconds(3))));
  EXPECT_EQ(std::get<0>(all), 1);
  EXPECT_EQ(std::get<1>(all), "two");
  EXPECT_EQ(std::get<2>(all), std::monostate());
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(When, AllOfAVectorAndOfNothing) {
  EXPECT_EQ(loop.run(when_all(these(gives(1, seconds(2)), gives(2, seconds(1))))), (std::vector<int>{1, 2}));
  EXPECT_EQ(now(), seconds(2));
  EXPECT_EQ(loop.run(when_all(std::vector<task<int>>())), std::vector<int>());
}

TEST_F(When, AllFailsFastAndWaitsForTheOthers) {
  try {
    loop.run(when_all(gives(1, hours(1)), fails("boom", seconds(1)), ends_late(2, seconds(1))));
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "boom");
  }
  EXPECT_EQ(order, (words{"1 cancelled", "struck"}));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(When, AllThrowsSeveralFailuresAsAnAggregate) {
  EXPECT_THROW(loop.run(when_all(these(fails("a", seconds(1)), fails_when_cancelled("b")))), aggregate_error);
}

TEST_F(When, AllThatIsCancelledFromOutsideEndsThemAll) {
  EXPECT_FALSE(cancelled_after_a_second(when_all(gives(1, hours(1)), gives(2, seconds(0)), gives(3, hours(1)))));
  EXPECT_EQ(order, (words{"1 cancelled", "3 cancelled"}));
}

TEST_F(When, AllThatIsCancelledFromOutsideDoesNotDropAFailure) {
  EXPECT_THROW(cancelled_after_a_second(when_all(gives(1, hours(1)), fails_when_cancelled("kept"))), std::runtime_error);
}

TEST_F(When, AllThatHasEachResultAlthoughItWasCancelledGivesThem) {
  const auto all = cancelled_after_a_second(when_all(these(ends_late(1, seconds(2)), gives(2, seconds(0)))));
  EXPECT_EQ(all, (std::vector<int>{1, 2}));
}

TEST_F(When, AllInACancelledScopeStrikesEachAtItsFirstAwait) {
  auto body = [](When& t) -> task<> {
    cancel_scope scope(t.loop);
    scope.cancel();
    EXPECT_FALSE(co_await scope.run(when_all(t.gives(1, hours(1)), t.gives(2, hours(1)))));
    EXPECT_FALSE(co_await scope.run(when_any(t.gives(3, hours(1)), t.gives(4, hours(1)))));
  };
  loop.run(body(*this));
  EXPECT_EQ(order, (words{"1 cancelled", "2 cancelled", "3 cancelled", "4 cancelled"}));
}

TEST_F(When, AllSettledLetsEachEndAsItDoes) {
  auto all = loop.run(when_all_settled(gives(1, seconds(2)), fails("no", seconds(1)), nothing(seconds(3))));
  EXPECT_EQ(std::move(std::get<0>(all)).get(), 1);
  EXPECT_THROW(std::move(std::get<1>(all)).get(), std::runtime_error);
  EXPECT_TRUE(std::get<2>(all).ok());
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(When, AllSettledThatIsCancelledFromOutsideLosesNothingThatWasThere) {
  auto all =
      cancelled_after_a_second(when_all_settled(these(gives(1, seconds(0)), fails_when_cancelled("kept"), gives(3, hours(1)))));
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(std::move((*all)[0]).get(), 1);
  EXPECT_THROW(std::move((*all)[1]).get(), std::runtime_error);
  EXPECT_THROW(std::move((*all)[2]).get(), cancelled);
}

TEST_F(When, AnyGivesTheFirstAndCancelsAndAwaitsTheOthers) {
  const auto first = loop.run(when_any(gives(1, hours(1)), gives(2, seconds(1)), ends_late(3, seconds(4))));
  EXPECT_EQ(first.index, 1U);
  EXPECT_EQ(first.value, 2);
  EXPECT_EQ(order, (words{"1 cancelled", "struck"}));
  EXPECT_EQ(now(), seconds(5));
}

TEST_F(When, AnyOfSeveralTypesIsAVariant) {
  const auto first = loop.run(when_any(gives(1, hours(1)), text("two", seconds(1)), nothing(hours(1))));
  EXPECT_EQ(first.index, 1U);
  EXPECT_EQ(first.value.index(), 1U);
  EXPECT_EQ(std::get<1>(first.value), "two");
  const auto none = loop.run(when_any(nothing(seconds(1)), nothing(hours(1))));
  EXPECT_EQ(none.index, 0U);
  EXPECT_EQ(none.value, std::monostate());
}

TEST_F(When, AnyOfAVector) {
  const auto first = loop.run(when_any(these(gives(1, seconds(2)), gives(2, seconds(1)))));
  EXPECT_EQ(first.index, 1U);
  EXPECT_EQ(first.value, 2);
}

TEST_F(When, AnyThatIsDecidedInTheSameTurnTwiceGivesTheFirst) {
  const auto first = loop.run(when_any(these(gives(1, seconds(0)), gives(2, seconds(0)))));
  EXPECT_EQ(first.index, 0U);
}

TEST_F(When, AnyWhoseFirstFailsThrowsThatAndTheFailuresOfOthers) {
  EXPECT_THROW(loop.run(when_any(gives(1, hours(1)), fails("boom", seconds(1)))), std::runtime_error);
  EXPECT_EQ(order, (words{"1 cancelled"}));
  EXPECT_THROW(loop.run(when_any(fails_when_cancelled("also"), fails("boom", seconds(1)))), aggregate_error);
  EXPECT_THROW(loop.run(when_any(ends_late(1, seconds(1)), fails("boom", seconds(1)))), std::runtime_error);
}

TEST_F(When, AnyReportsTheFailuresOfLosersToTheLoop) {
  loop.on_error([this](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      note(std::string("reported ") + e.what());
    }
  });
  EXPECT_EQ(loop.run(when_any(gives(1, seconds(1)), fails_when_cancelled("loser"))).value, 1);
  EXPECT_EQ(order, (words{"reported loser"}));
}

// The winner is there after half a second, the last loser after two more; the cancellation comes in between.
TEST_F(When, AnyKeepsItsResultWhenACancellationFromOutsideComesWhileLosersAreAwaited) {
  auto body = [](When& t) -> task<int> {
    cancel_scope scope(t.loop);
    scope.cancel_after(seconds(1));
    auto inside = [](When& of, int& got) -> task<> {
      const auto first =
          co_await when_any(of.gives(1, milliseconds(500)), of.ends_late(2, seconds(2)), gives_way_after(seconds(3)));
      got = first.value;
      of.note("result");
      co_await yield();
      of.note("not reached");
    };
    int got = 0;
    EXPECT_FALSE(co_await scope.run(inside(t, got)));
    co_return got;
  };
  EXPECT_EQ(loop.run(body(*this)), 1);
  EXPECT_EQ(order, (words{"struck", "result"}));
}

TEST_F(When, AnyThatIsCancelledFromOutsideBeforeThrowsUnlessOneHasAValue) {
  EXPECT_FALSE(cancelled_after_a_second(when_any(gives(1, hours(1)), gives(2, hours(2)))));
  const auto late = cancelled_after_a_second(when_any(gives(1, hours(1)), ends_late(2, seconds(3))));
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->value, 2);
  EXPECT_THROW(cancelled_after_a_second(when_any(gives(1, hours(1)), fails_when_cancelled("kept"))), std::runtime_error);
}

// However often a value may be moved, each of the places it passes may be the one that throws.
TEST_F(When, AResultThatThrowsWhenItIsMovedIsThatException) {
  int failures = 0;
  bool all_arrived = false;
  bool any_arrived = false;
  for (int moves = 0; !all_arrived || !any_arrived; ++moves) {
    ASSERT_LT(moves, 100);
    auto all = [](int n, bool& there) -> task<> {
      static_cast<void>(co_await when_all(moved(n), nothing(seconds(0))));
      there = true;
    };
    auto any = [](int n, bool& there) -> task<> {
      static_cast<void>(co_await when_any(moved(n), moved(n)));
      there = true;
    };
    try {
      loop.run(all(moves, all_arrived));
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "moved");
      ++failures;
    }
    try {
      loop.run(any(moves, any_arrived));
    } catch (const std::exception&) {  // of one, or of both
      ++failures;
    }
  }
  EXPECT_GE(failures, 4);
}

TEST_F(When, WhatWasNotAwaitedIsFreed) {
  static_cast<void>(when_all(gives(1, seconds(1)), nothing(seconds(1))));
  static_cast<void>(when_any(these(gives(1, seconds(1)))));
}

TEST_F(When, WhatRunsGoesWithTheLoop) {
  auto body = [](When& t) -> task<> {
    auto both = when_all(t.gives(1, hours(1)), t.gives(2, hours(1)));
    static_cast<void>(co_await when_any(std::move(both), when_all_settled(nothing(hours(1)))));
  };
  spawn(loop, body(*this));
  loop.run_once();
  loop.run_once();
}

TEST_F(When, TenThousandEndTogether) {
  std::vector<task<int>> many;
  for (int i = 0; i < 10'000; ++i) many.push_back(gives(i, seconds(1)));
  EXPECT_EQ(loop.run(when_all(std::move(many))).size(), 10'000U);
}

}  // namespace
}  // namespace looptask
