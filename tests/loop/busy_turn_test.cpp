#include <looptask/loop.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "loop/computing_world.hpp"

namespace looptask {
namespace {

using std::chrono::milliseconds;

struct BusyTurn : testing::Test {
  computing_world host;
  looptask::loop loop{host};

  // One callback in each turn, with the next always ready.
  void compute(duration each, int turns) {
    if (turns == 0) return;
    loop.call_soon([=, this] {
      host.compute(each);
      compute(each, turns - 1);
    });
  }
};

TEST_F(BusyTurn, ATimerIsLateByNoMoreThanTheTurnInWhichItFallsDue) {
  monotonic_time fired{};
  loop.call_at(monotonic_time(milliseconds(22)), [&] { fired = host.now(); });
  compute(milliseconds(5), 100);
  loop.run();
  EXPECT_EQ(fired, monotonic_time(milliseconds(25)));
}

TEST_F(BusyTurn, ATimerIsNotHeldUpByShortTurnsEither) {
  monotonic_time fired{};
  loop.call_at(monotonic_time(microseconds(30)), [&] { fired = host.now(); });
  compute(microseconds(1), 100);
  loop.run();
  EXPECT_EQ(fired, monotonic_time(microseconds(30)));
}

TEST_F(BusyTurn, ASignalIsServedAfterTheTurnInWhichItComes) {
  monotonic_time served{};
  host.signals().watch(SIGTERM, [&](int) { served = host.now(); });
  compute(milliseconds(5), 100);
  loop.call_later(milliseconds(12), [&] { host.raise_at_once(SIGTERM); });
  loop.run();
  EXPECT_EQ(served, monotonic_time(milliseconds(20)));  // raised at 15
}

TEST_F(BusyTurn, NowIsThatOfTheTurn) {
  monotonic_time seen{};
  loop.call_soon([&] {
    host.compute(milliseconds(5));
    loop.call_soon([&] { seen = loop.now(); });
  });
  loop.run();
  EXPECT_EQ(seen, monotonic_time(milliseconds(5)));
}

TEST_F(BusyTurn, TheSystemIsAskedAHundredMicrosecondsAfterTheLastTimeAtTheLatest) {
  compute(microseconds(30), 200);
  loop.run();
  duration longest{0};
  for (std::size_t i = 1; i < host.polls().size(); ++i) longest = std::max(longest, host.polls()[i] - host.polls()[i - 1]);
  EXPECT_LE(longest, microseconds(130));
  EXPECT_LE(host.polls().size(), 70U);  // nor more often
}

TEST_F(BusyTurn, TheSystemIsAskedOnceForSixtyFourCallbacksThatTakeNoTime) {
  compute(duration(0), 640);
  loop.run();
  EXPECT_GE(host.polls().size(), 10U);
  EXPECT_LE(host.polls().size(), 12U);
}

}  // namespace
}  // namespace looptask
