#include <looptask/timer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <looptask/loop.hpp>
#include <looptask/memory_pool.hpp>

#include "sim/world.hpp"

namespace looptask {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Timer : testing::Test {
  sim::world world{1};
  std::optional<looptask::loop> owned{std::in_place, world};
  looptask::loop& loop = *owned;
  std::vector<std::string> order;
  unique_function<void()> note(std::string what) {
    return [this, what = std::move(what)] { order.push_back(what); };
  }
};
using words = std::vector<std::string>;

struct beat {
  explicit beat(looptask::loop& l) : alarm(l, *this) {}
  void on_beat() { ++beats; }
  int beats = 0;
  timer_of<&beat::on_beat> alarm;
};

TEST_F(Timer, FiresAtItsDeadlineAndNotBefore) {
  duration fired{};
  loop.call_at(monotonic_time(seconds(5)), [&] { fired = world.now(); });
  loop.run();
  EXPECT_EQ(fired, seconds(5));
}

TEST_F(Timer, EqualDeadlinesFireInOrderOfArming) {
  for (const char* name : {"a", "b", "c"}) loop.call_at(monotonic_time(seconds(1)), note(name));
  loop.run();
  EXPECT_EQ(order, (words{"a", "b", "c"}));
}

TEST_F(Timer, DeadlinesThatHavePassedFireInOrderOfArming) {
  loop.call_at(monotonic_time(seconds(9)), [&] {
    loop.call_at(monotonic_time(seconds(5)), note("first"));
    loop.call_at(monotonic_time(seconds(2)), note("second"));
    loop.call_at(loop.now(), note("third"));
  });
  loop.run();
  EXPECT_EQ(order, (words{"first", "second", "third"}));
  EXPECT_EQ(world.now(), seconds(9));
}

TEST_F(Timer, ArmedForNowByATimerWaitsForTheNextTurn) {
  loop.call_later(seconds(0), [&] {
    loop.call_soon(note("ready"));
    loop.call_later(seconds(0), note("timer"));
  });
  loop.run();
  EXPECT_EQ(order, (words{"ready", "timer"}));
}

TEST_F(Timer, CancelIsIdempotentAndFreesTheCallbackAtOnce) {
  auto held = std::make_shared<int>(0);
  timer_handle handle = loop.call_later(seconds(1), [held] {});
  EXPECT_TRUE(handle.armed());
  handle.cancel();
  handle.cancel();
  EXPECT_FALSE(handle.armed());
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(loop.statistics().armed, 0U);
  loop.run();
  EXPECT_EQ(world.now(), seconds(0));
}

TEST_F(Timer, CancelInTheTurnInWhichItIsDueStillCounts) {
  timer_handle second;
  loop.call_at(monotonic_time(seconds(1)), [&] { second.cancel(); });
  second = loop.call_at(monotonic_time(seconds(1)), note("not called"));
  loop.run();
  EXPECT_EQ(order, words{});
}

TEST_F(Timer, CancelAfterItHasFiredDoesNothing) {
  timer_handle handle = loop.call_later(seconds(1), note("fired"));
  loop.run();
  EXPECT_FALSE(handle.armed());
  handle.cancel();
  EXPECT_EQ(order, (words{"fired"}));
}

TEST_F(Timer, ACallbackMayCancelItsOwnHandle) {
  timer_handle handle;
  handle = loop.call_later(seconds(1), [&] {
    handle.cancel();
    order.push_back("fired");
  });
  loop.run();
  EXPECT_EQ(order, (words{"fired"}));
}

TEST_F(Timer, DroppingOrMovingTheHandleLeavesItArmed) {
  static_cast<void>(loop.call_later(seconds(1), note("dropped")));
  timer_handle first = loop.call_later(seconds(2), note("moved"));
  timer_handle second = std::move(first);
  first.cancel();
  loop.run();
  EXPECT_EQ(order, (words{"dropped", "moved"}));
}

TEST_F(Timer, AHandleMayOutliveItsLoop) {
  auto held = std::make_shared<int>(0);
  timer_handle handle = loop.call_later(seconds(1), [held] {});
  owned.reset();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(handle.armed());
  handle.cancel();
}

TEST_F(Timer, ATimerInsideItsOwnerArmsAndRearmsWithoutAllocating) {
  beat heart(loop);
  const auto blocks = memory_pool::live();
  heart.alarm.arm_after(seconds(1));
  heart.alarm.arm_after(seconds(2));
  EXPECT_EQ(memory_pool::live(), blocks);
  loop.run();
  EXPECT_EQ(heart.beats, 1);
  EXPECT_EQ(world.now(), seconds(2));
}

TEST_F(Timer, ReArmedItCountsAsArmedLast) {
  beat heart(loop);
  heart.alarm.arm(monotonic_time(seconds(1)));
  loop.call_at(monotonic_time(seconds(1)), [&] { EXPECT_EQ(heart.beats, 0); });
  heart.alarm.arm(monotonic_time(seconds(1)));
  loop.run();
  EXPECT_EQ(heart.beats, 1);
}

TEST_F(Timer, DestroyingItCancelsIt) {
  {
    beat heart(loop);
    heart.alarm.arm_after(seconds(1));
  }
  loop.run();
  EXPECT_EQ(world.now(), seconds(0));
}

TEST_F(Timer, MayOutliveItsLoopUnarmed) {
  beat heart(loop);
  heart.alarm.arm_after(seconds(1));
  owned.reset();
  EXPECT_FALSE(heart.alarm.armed());
  heart.alarm.cancel();
}

TEST_F(Timer, ALongDelayDoesNotOverflow) {
  timer_handle handle = loop.call_later(duration::max(), note("never"));
  loop.call_later(seconds(1), [&] { handle.cancel(); });
  loop.run();
  EXPECT_EQ(world.now(), seconds(1));
}

TEST_F(Timer, TimersKeepTheirSize) {
  EXPECT_LE(sizeof(timer), 40U);
  EXPECT_LE(sizeof(timer_of<&beat::on_beat>), 48U);
}

TEST_F(Timer, ArmedByAHostsCallbackAfterALongWaitCountsFromThatMoment) {
  duration fired{};
  world.call_at(hours(1), [&] { loop.call_later(seconds(1), [&] { fired = world.now(); }); });
  const loop_hold hold = loop.hold();
  world.call_at(hours(2), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(fired, hours(1) + seconds(1));
}

}  // namespace
}  // namespace looptask
