#include <looptask/task.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <looptask/real_host.hpp>
#include <looptask/sleep.hpp>

namespace looptask {
namespace {

struct Task : testing::Test {
  std::int64_t before = memory_pool::live();
  real_host host;
  looptask::loop loop{host};
  void TearDown() override { EXPECT_EQ(memory_pool::live(), before) << "frames left over"; }
};

task<int> answer() { co_return 42; }
task<int> add(int a, int b) { co_return a + b; }
task<int> sum_of_awaits() {
  const int a = co_await answer();
  const int b = co_await add(a, 1);
  co_return a + b;
}
task<> fails(std::string what) {
  co_await yield();
  throw std::runtime_error(what);
}
task<std::string> catches() {
  std::string seen;
  try {
    co_await fails("inner");
  } catch (const std::runtime_error& e) {
    seen = e.what();
  }
  co_return seen;
}
task<int&> refers(int& to) { co_return to; }
task<std::unique_ptr<int>> moves() { co_return std::make_unique<int>(7); }

TEST_F(Task, RunReturnsTheResult) { EXPECT_EQ(loop.run(sum_of_awaits()), 85); }
TEST_F(Task, RunThrowsTheException) { EXPECT_THROW(loop.run(fails("x")), std::runtime_error); }
TEST_F(Task, ExceptionsReachTheAwaiter) { EXPECT_EQ(loop.run(catches()), "inner"); }
TEST_F(Task, ResultsMayBeReferencesAndMoveOnly) {
  int n = 1;
  EXPECT_EQ(&loop.run(refers(n)), &n);
  EXPECT_EQ(*loop.run(moves()), 7);
}

TEST_F(Task, BeginsOnlyWhenAwaited) {
  bool begun = false;
  {
    auto body = [&begun]() -> task<> {
      begun = true;
      co_return;
    };
    const task<> never = body();
  }
  EXPECT_FALSE(begun);
}

task<> down(int levels) {
  if (levels > 0) co_await down(levels - 1);
}
TEST_F(Task, AMillionNestedAwaitsNeedNoStack) { loop.run(down(1'000'000)); }

task<> throws_from(int levels) {
  if (levels == 0) throw std::runtime_error("deep");
  co_await throws_from(levels - 1);
}
TEST_F(Task, AnExceptionThroughManyLevelsNeedsNoStack) { EXPECT_THROW(loop.run(throws_from(30'000)), std::runtime_error); }

task<> waits_at(int levels) {
  if (levels == 0) {
    co_await sleep_for(std::chrono::hours(1));
  } else {
    co_await waits_at(levels - 1);
  }
}

TEST(TaskEnd, AChainOfAMillionFramesIsDestroyedWithItsLoopWithoutStack) {
  const std::int64_t before = memory_pool::live();
  {
    real_host host;
    looptask::loop loop(host);
    spawn(loop, waits_at(1'000'000));
    loop.call_soon([&] { loop.stop(); });
    loop.run();
  }
  EXPECT_EQ(memory_pool::live(), before);
}

task<> many_awaits(int n) {
  for (int i = 0; i < n; ++i) co_await answer();
}
TEST_F(Task, AMillionAwaitsInARowNeedNoStack) { loop.run(many_awaits(1'000'000)); }

TEST_F(Task, SpawnTellsTheOutcome) {
  int value = 0;
  std::string error;
  spawn(loop, answer(), [&](outcome<int> o) { value = std::move(o).get(); });
  spawn(loop, fails("spawned"), [&](outcome<> o) {
    try {
      std::move(o).get();
    } catch (const std::runtime_error& e) {
      error = e.what();
    }
  });
  loop.run();
  EXPECT_EQ(value, 42);
  EXPECT_EQ(error, "spawned");
}

TEST_F(Task, AnExceptionThatNobodyAwaitsReachesTheLoop) {
  std::string seen;
  loop.on_error([&](std::exception_ptr e) {
    try {
      std::rethrow_exception(e);
    } catch (const std::runtime_error& r) {
      seen += r.what();
    }
  });
  spawn(loop, fails("lost"));
  spawn(loop, answer(), [](outcome<int>) { throw std::runtime_error("in on_done, "); });
  loop.run();
  EXPECT_EQ(seen, "in on_done, lost");
}

TEST_F(Task, SpawnKeepsTheClosureOfItsTask) {
  auto owned = std::make_shared<int>(5);
  int seen = 0;
  spawn(loop, [owned, &seen]() -> task<> {
    co_await yield();
    seen = *owned;
  });
  loop.run();
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(owned.use_count(), 1);
}

struct note {
  std::string& to;
  char what;
  note(std::string& t, char w) : to(t), what(w) {}
  note(const note&) = delete;
  note& operator=(const note&) = delete;
  ~note() { to += what; }
};
task<> inner(std::string& order) {
  const note n(order, 'i');
  co_await sleep_for(std::chrono::hours(1));
}
task<> outer(std::string& order) {
  const note n(order, 'o');
  co_await inner(order);
}
TEST(TaskEnd, FramesAreDestroyedWithTheLoopInnermostFirst) {
  std::string order;
  {
    real_host host;
    looptask::loop loop(host);
    spawn(loop, outer(order));
    loop.call_soon([&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(order, "");
  }
  EXPECT_EQ(order, "io");
}

task<> yields(std::string& to, char name) {
  for (int i = 0; i < 3; ++i) {
    to += name;
    co_await yield();
  }
}
TEST_F(Task, YieldTakesTurns) {
  std::string order;
  spawn(loop, yields(order, 'a'));
  spawn(loop, yields(order, 'b'));
  loop.run();
  EXPECT_EQ(order, "ababab");
}

task<> stops_its_loop(looptask::loop& l) {
  l.stop();
  co_await sleep_for(std::chrono::hours(1));
}
TEST_F(Task, StopCancelsTheTaskOfRun) { EXPECT_THROW(loop.run(stops_its_loop(loop)), cancelled); }

task<> ends_while_it_stops(looptask::loop& l) {
  l.stop();
  co_return;
}
TEST_F(Task, AStopInTheLastTurnOfARunIsNotLeftForTheNext) {
  loop.run(ends_while_it_stops(loop));
  bool cleaned = false;
  auto cleanup = [](bool& c) -> task<> {
    co_await yield();
    c = true;
  };
  EXPECT_NO_THROW(loop.run(cleanup(cleaned)));
  EXPECT_TRUE(cleaned);
}

task<> awaits_twice() {
  task<int> t = answer();
  co_await std::move(t);
  co_await std::move(t);
}
task<> awaits_something_foreign() { co_await std::suspend_always(); }

void run_in_a_new_loop(task<> what) {
  real_host host;
  looptask::loop loop(host);
  loop.run(std::move(what));
}

TEST(TaskDeathTest, AwaitingTwiceIsMisuse) { EXPECT_DEATH(run_in_a_new_loop(awaits_twice()), "twice"); }
TEST(TaskDeathTest, AForeignAwaitableIsMisuse) {
  EXPECT_DEATH(run_in_a_new_loop(awaits_something_foreign()), "neither a task nor");
}
TEST(TaskDeathTest, AnOperationOutsideOfATaskIsMisuse) { EXPECT_DEATH(yield().await_ready(), "outside of a task"); }

}  // namespace
}  // namespace looptask
