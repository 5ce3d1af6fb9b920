#include <looptask/latch.hpp>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Latch : in_a_world {
  latch three{3};
  task<> waits(std::string name) {
    co_await three.wait();
    note(name);
  }
};

TEST_F(Latch, OpensWhenTheLastHasCountedDown) {
  for (const char* name : {"a", "b"}) spawn(loop, waits(name));
  loop.call_later(seconds(1), [&] { three.count_down(2); });
  loop.call_later(seconds(2), [&] {
    EXPECT_EQ(three.statistics().remaining, 1U);
    EXPECT_EQ(three.statistics().waiting, 2U);
    EXPECT_FALSE(three.is_reached());
    note("last");
    three.count_down();
    EXPECT_TRUE(three.is_reached());
  });
  loop.run();
  EXPECT_EQ(order, (words{"last", "a", "b"}));
}

TEST_F(Latch, StaysOpen) {
  three.count_down(3);
  spawn(loop, waits("late"));
  loop.run_once();
  EXPECT_EQ(order, (words{"late"}));
}

TEST_F(Latch, OfNothingIsOpenFromTheStart) {
  latch none(0);
  EXPECT_TRUE(none.is_reached());
  auto body = [](latch& of) -> task<> { co_await of.wait(); };
  loop.run(body(none));
}

TEST_F(Latch, MayBeDestroyedByWhoWaitedForIt) {
  auto body = [](looptask::loop& l) -> task<> {
    latch own(1);
    l.call_later(seconds(1), [&own] { own.count_down(); });
    co_await own.wait();
  };
  loop.run(body(loop));
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(Latch, CancellationWhileWaitingLeavesTheLine) {
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), waits("never"))));
  EXPECT_EQ(three.statistics().waiting, 0U);
}

TEST(LatchDeathTest, CountedDownBelowZeroIsMisuse) { EXPECT_DEATH(latch(1).count_down(2), "below zero"); }

TEST(LatchDeathTest, DestroyedWhileTasksWaitIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        auto one = std::make_unique<latch>(1U);
        auto waits = [](latch& of) -> task<> { co_await of.wait(); };
        spawn(l, waits(*one));
        l.run();
        one.reset();
      },
      "latch destroyed while tasks wait");
}

}  // namespace
}  // namespace looptask
