#include <looptask/rate_limiter.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "loop/computing_world.hpp"
#include "task/world.hpp"

namespace looptask {
namespace {

using std::chrono::days;
using std::chrono::minutes;
using std::chrono::nanoseconds;

struct RateLimiter : in_a_world {
  std::vector<duration> times;

  task<> takes(rate_limiter& from, int rounds, std::size_t tokens = 1) {
    for (int i = 0; i < rounds; ++i) {
      co_await from.acquire(tokens);
      times.push_back(now());
    }
  }
  task<> takes_as(rate_limiter& from, std::string name, std::size_t tokens) {
    co_await from.acquire(tokens);
    note(name);
  }
};

TEST_F(RateLimiter, GivesTheBurstAtOnceAndThenAtTheRate) {
  rate_limiter four(loop, 10, seconds(1), 4);
  loop.run(takes(four, 7));
  const duration zero(0);
  EXPECT_EQ(times, (std::vector<duration>{zero, zero, zero, zero, milliseconds(100), milliseconds(200), milliseconds(300)}));
}

TEST_F(RateLimiter, IsExactToTheNanosecondAndDoesNotDrift) {
  rate_limiter thirds(loop, 3, nanoseconds(1'000'000'000), 1);
  loop.run(takes(thirds, 10));
  for (int i = 0; i < 10; ++i) {
    // i / 3 seconds, rounded up: the first nanosecond at which the token is whole.
    EXPECT_EQ(times[static_cast<std::size_t>(i)], nanoseconds((i * 1'000'000'000LL + 2) / 3));
  }
}

TEST_F(RateLimiter, KeepsItsRateOverManyRounds) {
  rate_limiter sevens(loop, 7, seconds(1), 1);
  loop.run(takes(sevens, 70'001));
  EXPECT_EQ(now(), seconds(10'000));
}

TEST_F(RateLimiter, SavesUpNoMoreThanTheBurst) {
  rate_limiter two(loop, 1, seconds(1), 2);
  loop.call_later(hours(1), [&] {
    EXPECT_EQ(two.statistics().available, 2U);
    EXPECT_TRUE(two.try_acquire());
    EXPECT_TRUE(two.try_acquire());
    EXPECT_FALSE(two.try_acquire());
  });
  loop.call_later(hours(1) + milliseconds(999), [&] { EXPECT_FALSE(two.try_acquire()); });
  loop.call_later(hours(1) + milliseconds(1000), [&] {
    EXPECT_TRUE(two.try_acquire());
    EXPECT_FALSE(two.try_acquire());
  });
  loop.run();
}

TEST_F(RateLimiter, WhoWantsManyIsNotOvertaken) {
  rate_limiter five(loop, 1, seconds(1), 5);
  EXPECT_TRUE(five.try_acquire(4));
  spawn(loop, takes_as(five, "five", 5));
  spawn(loop, takes_as(five, "one", 1));
  loop.call_later(milliseconds(3999), [&] {
    EXPECT_EQ(order, words{});
    EXPECT_EQ(five.statistics().waiting, 2U);
    EXPECT_EQ(five.statistics().available, 4U);
    EXPECT_FALSE(five.try_acquire());
  });
  loop.call_later(milliseconds(4500), [&] { EXPECT_EQ(order, (words{"five"})); });
  loop.run();
  EXPECT_EQ(order, (words{"five", "one"}));
  EXPECT_EQ(now(), seconds(5));
  EXPECT_EQ(five.statistics().acquired, 10U);
}

TEST_F(RateLimiter, WhoIsCancelledHasTakenNothingAndLetsTheNextGoOn) {
  rate_limiter five(loop, 1, seconds(1), 5);
  EXPECT_TRUE(five.try_acquire(5));
  cancel_scope scope(loop);
  spawn(loop, scope, takes_as(five, "five", 5), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  spawn(loop, takes_as(five, "one", 1));
  spawn(loop, takes_as(five, "three", 3));
  loop.call_later(milliseconds(2500), [&] {
    scope.cancel();
    EXPECT_EQ(five.statistics().available, 1U);
  });
  loop.run();
  EXPECT_EQ(order, (words{"one", "three"}));
  EXPECT_EQ(now(), seconds(4));
}

TEST_F(RateLimiter, CancellationBeforeTheAwaitTakesNothing) {
  rate_limiter one(loop, 1, seconds(1), 1);
  cancel_scope scope(loop);
  scope.cancel();
  spawn(loop, scope, takes(one, 1), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  loop.run();
  EXPECT_EQ(one.statistics().available, 1U);
}

TEST_F(RateLimiter, CancellationAfterTheTokenWasHandedOverComesTooLate) {
  rate_limiter one(loop, 1, seconds(1), 1);
  cancel_scope scope(loop);
  spawn(loop, scope, takes(one, 3), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  loop.run_once();
  loop.call_at(monotonic_time(seconds(1)), [&] { scope.cancel(); });  // armed after the limiter's own timer
  loop.run();
  EXPECT_EQ(times, (std::vector<duration>{seconds(0), seconds(1)}));
  EXPECT_EQ(one.statistics().waiting, 0U);
}

TEST_F(RateLimiter, ATokenThatACancelledTaskDidNotTakeIsTheNextOnesAtOnce) {
  rate_limiter one(loop, 1, seconds(1), 1);
  EXPECT_TRUE(one.try_acquire());
  cancel_scope scope(loop);
  spawn(loop, scope, takes(one, 1), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  spawn(loop, takes_as(one, "next", 1));
  loop.call_at(monotonic_time(seconds(1)), [&] { scope.cancel(); });  // comes before the limiter's own timer
  loop.run();
  EXPECT_EQ(times, std::vector<duration>{});
  EXPECT_EQ(order, (words{"next"}));
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(RateLimiter, NobodyWaitsForItOnceTheLastWaiterHasLeft) {
  rate_limiter slow(loop, 1, days(1000), 1);
  EXPECT_TRUE(slow.try_acquire());
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), takes(slow, 1))));
  loop.run();  // returns: no timer is armed
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(RateLimiter, TasksThatAreDestroyedWithTheirLoopLeaveTheLine) {
  auto own = std::make_unique<rate_limiter>(loop, 1U, seconds(1), 1U);
  for (int i = 0; i < 3; ++i) spawn(loop, takes(*own, 5));
  loop.call_later(milliseconds(1500), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(own->statistics().waiting, 3U);
  owned.reset();
  own.reset();
  EXPECT_EQ(times.size(), 2U);
}

TEST_F(RateLimiter, ATaskThatNeverHasToWaitStillLetsOthersRun) {
  rate_limiter wide(loop, 1, seconds(1), 100'000);
  bool other_ran = false;
  auto greedy = [](RateLimiter& test, rate_limiter& from, bool& other) -> task<> {
    while (!other) co_await test.takes(from, 1);
  };
  spawn(loop, greedy(*this, wide, other_ran));
  loop.call_soon([&] { other_ran = true; });
  loop.run();
  EXPECT_EQ(times.size(), 257U);
  EXPECT_EQ(wide.statistics().waited, 0U);
}

TEST_F(RateLimiter, GreatNumbersDoNotOverflow) {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  rate_limiter vast(loop, most, duration::max(), most);
  EXPECT_TRUE(vast.try_acquire(most));
  loop.run(takes(vast, 2, 1000));
  // 2^64 tokens in 2^63 ns: a thousand take 500 ns.
  EXPECT_EQ(times, (std::vector<duration>{nanoseconds(500), nanoseconds(1000)}));
  rate_limiter never(loop, 1, duration::max(), most);
  EXPECT_TRUE(never.try_acquire(most));
  EXPECT_FALSE(loop.run(move_on_after(days(1000), takes(never, 1, most))));
}

// While the loop computes, time passes; the limit holds on the clock, not on what the loop thinks the time is.
TEST(RateLimiterOfABusyLoop, CountsOnTheClockItself) {
  computing_world host;
  loop l(host);
  rate_limiter one(l, 1, seconds(1), 1);
  std::vector<monotonic_time> times;
  auto body = [](computing_world& h, rate_limiter& from, std::vector<monotonic_time>& at) -> task<> {
    for (int i = 0; i < 4; ++i) {
      co_await from.acquire();
      at.push_back(h.now());
      if (i == 1) h.compute(milliseconds(2500));
    }
  };
  l.run(body(host, one, times));
  const auto at = [](auto d) { return monotonic_time(d); };
  // The third finds one token, not two: a burst of 1 does not make up for what nobody asked for. The fourth a second later.
  EXPECT_EQ(times, (std::vector{at(seconds(0)), at(seconds(1)), at(milliseconds(3500)), at(milliseconds(4500))}));
}

TEST(RateLimiterOfABusyLoop, MakesUpForWhatItWasLateWithinItsBurst) {
  for (const std::size_t burst : {1U, 2U}) {
    computing_world host;
    loop l(host);
    rate_limiter limit(l, 1, seconds(1), burst);
    EXPECT_TRUE(limit.try_acquire(burst));
    std::vector<monotonic_time> times;
    auto body = [](computing_world& h, rate_limiter& from, std::vector<monotonic_time>& at) -> task<> {
      for (int i = 0; i < 3; ++i) {
        co_await from.acquire();
        at.push_back(h.now());
      }
    };
    l.call_later(milliseconds(999), [&] { host.compute(milliseconds(301)); });  // the first is handed out 300 ms late
    l.run(body(host, limit, times));
    const auto at = [](auto d) { return monotonic_time(d); };
    EXPECT_EQ(times[0], at(milliseconds(1300)));
    EXPECT_EQ(times[1], at(milliseconds(burst == 1 ? 2300 : 2000)));
    EXPECT_EQ(times[2], at(milliseconds(burst == 1 ? 3300 : 3000)));
  }
}

// Against plain integers: tokens are whole numbers of parts, counted nanosecond by nanosecond.
RC_GTEST_PROP(TokenBucket, AgreesWithCountingEachNanosecond, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 50);
  const auto per = *rc::gen::inRange<std::int64_t>(1, 50);
  const auto burst = *rc::gen::inRange<std::size_t>(1, 6);
  monotonic_time now{};
  detail::token_bucket bucket(count, duration(per), burst, now);
  const std::size_t full = burst * static_cast<std::size_t>(per);
  std::size_t parts = full;  // of which `per` make a token and `count` come each nanosecond
  const auto steps = *rc::gen::container<std::vector<std::pair<int, std::size_t>>>(
      rc::gen::pair(rc::gen::inRange(0, 60), rc::gen::inRange<std::size_t>(1, burst + 1)));
  for (const auto& [wait, wanted] : steps) {
    const monotonic_time when = bucket.holds_at(wanted);
    for (int i = 0; i < wait; ++i) {
      RC_ASSERT((parts / static_cast<std::size_t>(per) >= wanted) == (now >= when));
      now += duration(1);
      parts += count;
      if (parts >= full && parts - full >= std::min(count, static_cast<std::size_t>(per))) parts = full;
    }
    bucket.fill(now);
    RC_ASSERT(bucket.tokens() == parts / static_cast<std::size_t>(per));
    if (bucket.tokens() >= wanted) {
      bucket.take(wanted);
      parts -= wanted * static_cast<std::size_t>(per);
    }
  }
}

TEST(RateLimiterDeathTest, AskedForMoreThanItsBurstIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        rate_limiter two(l, 1, seconds(1), 2);
        static_cast<void>(two.acquire(3));
      },
      "more than its burst");
}

TEST(RateLimiterDeathTest, ThatLetsNothingPassIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        const rate_limiter none(l, 0, seconds(1), 1);
      },
      "lets nothing pass");
}

TEST(RateLimiterDeathTest, DestroyedWhileTasksWaitIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        auto limit = std::make_unique<rate_limiter>(l, 1U, seconds(1), 1U);
        auto waits = [](rate_limiter& of) -> task<> {
          while (true) co_await of.acquire();
        };
        spawn(l, waits(*limit));
        l.run_once();
        limit.reset();
      },
      "rate_limiter destroyed while tasks wait");
}

}  // namespace
}  // namespace looptask
