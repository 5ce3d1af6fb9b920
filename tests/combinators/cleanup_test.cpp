#include <looptask/cleanup.hpp>

#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Cleanup : in_a_world {
  static task<int> gives(int value, duration after) {
    co_await sleep_for(after);
    co_return value;
  }
  static task<int> fails(duration after) {
    co_await sleep_for(after);
    throw std::runtime_error("body");
  }
  auto noting(duration takes) {
    return [this, takes]() -> task<> {
      co_await sleep_for(takes);
      note("cleaned up");
    };
  }
  static task<> failing() {
    co_await sleep_for(seconds(1));
    throw std::logic_error("clean-up");
  }
};

TEST_F(Cleanup, RunsAfterAResultWhichIsDelivered) {
  EXPECT_EQ(loop.run(with_cleanup(gives(7, seconds(1)), noting(seconds(2)))), 7);
  EXPECT_EQ(order, (words{"cleaned up"}));
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(Cleanup, OfABodyWithoutResultAndOfOneWithAReference) {
  int there = 1;
  auto nothing = []() -> task<> { co_return; };
  auto reference = [](int& of) -> task<int&> { co_return of; };
  loop.run(with_cleanup(nothing(), noting(seconds(0))));
  EXPECT_EQ(&loop.run(with_cleanup(reference(there), noting(seconds(0)))), &there);
  EXPECT_EQ(order, (words{"cleaned up", "cleaned up"}));
}

TEST_F(Cleanup, RunsAfterAnExceptionWhichIsRethrown) {
  EXPECT_THROW(loop.run(with_cleanup(fails(seconds(1)), noting(seconds(2)))), std::runtime_error);
  EXPECT_EQ(order, (words{"cleaned up"}));
}

TEST_F(Cleanup, RunsToItsEndAfterACancellation) {
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), with_cleanup(gives(1, hours(1)), noting(seconds(2))))));
  EXPECT_EQ(order, (words{"cleaned up"}));
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(Cleanup, RunsInAScopeThatWasCancelledBefore) {
  EXPECT_FALSE(loop.run(move_on_at(loop.now(), with_cleanup(gives(1, hours(1)), noting(seconds(2))))));
  EXPECT_EQ(order, (words{"cleaned up"}));
}

TEST_F(Cleanup, ACancellationWhileItRunsDoesNotLoseTheResult) {
  EXPECT_EQ(loop.run(move_on_after(seconds(2), with_cleanup(gives(7, seconds(1)), noting(seconds(3))))), 7);
  EXPECT_EQ(now(), seconds(4));
}

TEST_F(Cleanup, WhoseExceptionIsTheOnlyOneIsThrown) {
  EXPECT_THROW(loop.run(with_cleanup(gives(7, seconds(1)), failing)), std::logic_error);
  EXPECT_THROW(loop.run(move_on_after(seconds(1), with_cleanup(gives(7, hours(1)), failing))), std::logic_error);
}

TEST_F(Cleanup, WhoseExceptionComesOnTopOfTheBodysIsThrownWithIt) {
  try {
    loop.run(with_cleanup(fails(seconds(1)), failing));
    FAIL();
  } catch (const aggregate_error& e) {
    ASSERT_EQ(e.errors().size(), 2U);
    EXPECT_THROW(std::rethrow_exception(e.errors()[0]), std::runtime_error);
    EXPECT_THROW(std::rethrow_exception(e.errors()[1]), std::logic_error);
  }
}

TEST_F(Cleanup, ThatThrowsBeforeItHasMadeItsTaskCountsAsFailed) {
  auto throws = []() -> task<> { throw std::logic_error("no task"); };
  EXPECT_THROW(loop.run(with_cleanup(gives(7, seconds(1)), throws)), std::logic_error);
}

struct throws_when_moved {
  throws_when_moved() = default;
  throws_when_moved(throws_when_moved&&) { throw std::runtime_error("moved"); }
};
TEST_F(Cleanup, RunsAlsoIfTheResultThrowsWhenItIsMoved) {
  auto body = [](Cleanup& t) -> task<> {
    auto makes = []() -> task<throws_when_moved> { co_return throws_when_moved(); };
    static_cast<void>(co_await with_cleanup(makes(), t.noting(seconds(1))));
  };
  EXPECT_THROW(loop.run(body(*this)), std::runtime_error);
  EXPECT_EQ(order, (words{"cleaned up"}));
}

TEST_F(Cleanup, DoesNotRunWithoutABodyThatHasBegunNorWithTheLoopsEnd) {
  static_cast<void>(with_cleanup(gives(1, seconds(1)), noting(seconds(1))));
  auto body = [](Cleanup& t) -> task<> { static_cast<void>(co_await with_cleanup(gives(1, hours(1)), t.noting(seconds(1)))); };
  spawn(loop, body(*this));
  loop.run_once();
  owned.reset();
  EXPECT_EQ(order, words{});
}

}  // namespace
}  // namespace looptask
