// A loop that runs inside of another one.
#include <looptask/loop.hpp>

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <looptask/real_host.hpp>
#include <looptask/sleep.hpp>
#include <looptask/task.hpp>

#include "loop/computing_world.hpp"
#include "process/child_recorder.hpp"
#include "source_tree.hpp"

namespace looptask {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

struct Nesting : testing::Test {
  real_host host;
  looptask::loop loop{host};
  bool readable(int milliseconds_at_most = 0) const {
    pollfd one{loop.native_fd(), POLLIN, 0};
    return ::poll(&one, 1, milliseconds_at_most) == 1;
  }
  static constexpr int long_enough = 60'000;
};

TEST_F(Nesting, NothingIsWantedOfALoopThatHasNothingToDo) {
  EXPECT_EQ(loop.next_deadline(), std::nullopt);
  EXPECT_FALSE(readable());
}

TEST_F(Nesting, TheNextDeadlineIsThatOfTheEarliestTimer) {
  const monotonic_time first = loop.now() + hours(1);
  loop.call_at(first + hours(1), [] {});
  loop.call_at(first, [] {});
  EXPECT_LE(*loop.next_deadline(), first);
  EXPECT_GT(*loop.next_deadline(), loop.now());
}

TEST_F(Nesting, ReadyIdleAndPostedWorkIsWantedAtOnce) {
  const auto at_once = [this] { return loop.next_deadline() && *loop.next_deadline() <= loop.now(); };
  int ran = 0;
  loop.call_soon([&] { ++ran; });
  EXPECT_TRUE(at_once());
  loop.poll();
  EXPECT_FALSE(at_once());
  loop.call_idle([&] { ++ran; });
  EXPECT_TRUE(at_once());
  loop.poll();
  EXPECT_FALSE(at_once());
  loop.post([&] { ++ran; });
  EXPECT_TRUE(at_once());
  loop.poll();
  EXPECT_FALSE(at_once());
  EXPECT_EQ(ran, 3);
}

TEST_F(Nesting, APollDoesNotWait) {
  loop.call_later(hours(1), [] { FAIL(); });
  const loop_hold hold = loop.hold();
  loop.poll();
  EXPECT_EQ(loop.statistics().turns, 1U);
}

TEST_F(Nesting, APostFromAnotherThreadMakesTheDescriptorReadable) {
  for (int round = 0; round < 100; ++round) {
    bool ran = false;
    ASSERT_EQ(loop.next_deadline(), std::nullopt);
    ASSERT_EQ(loop.next_deadline(), std::nullopt) << "asked twice";
    std::thread([&, handle = loop.handle()] { handle.post([&] { ran = true; }); }).join();
    ASSERT_TRUE(readable(long_enough));
    while (!ran) loop.poll();
    loop.poll();
    ASSERT_FALSE(readable());
  }
}

TEST_F(Nesting, AStopFromAnotherThreadMakesTheDescriptorReadable) {
  ASSERT_EQ(loop.next_deadline(), std::nullopt);
  std::thread([handle = loop.handle()] { handle.stop(); }).join();
  EXPECT_TRUE(readable(long_enough));
  loop.poll();
  EXPECT_EQ(loop.next_deadline(), std::nullopt);
}

TEST_F(Nesting, AfterItWasAskedForItsDeadlineItCanBeRun) {
  int ran = 0;
  EXPECT_EQ(loop.next_deadline(), std::nullopt);
  loop.call_soon([&] { ++ran; });
  loop.run();
  EXPECT_EQ(loop.next_deadline(), std::nullopt);
  loop.run([](int& count) -> task<> {
    co_await sleep_for(milliseconds(1));
    ++count;
  }(ran));
  EXPECT_EQ(ran, 2);
}

TEST(RunOnce, WaitsUntilItsDeadlineAtTheLatest) {
  sim::world world(1);
  loop l(world);
  const monotonic_time start = l.now();
  bool fired = false;
  l.call_later(milliseconds(10), [&] { fired = true; });
  l.run_once(start + milliseconds(4));
  EXPECT_EQ(l.now(), start + milliseconds(4));
  EXPECT_FALSE(fired);
  l.run_once(start + hours(1));
  EXPECT_EQ(l.now(), start + milliseconds(10));
  EXPECT_TRUE(fired);
}

TEST(TimerSlack, TimersThatAreDueCloseTogetherShareOneWakeUp) {
  computing_world world;
  loop l(world);
  l.set_timer_slack(milliseconds(1));
  const monotonic_time start = l.now();
  std::vector<duration> late;
  for (const int us : {10'900, 10'000, 10'300, 11'100}) {
    const std::chrono::microseconds after(us);
    l.call_at(start + after, [&, after] { late.push_back(l.now() - (start + after)); });
  }
  l.run();
  using std::chrono::microseconds;
  EXPECT_EQ(late, (std::vector<duration>{microseconds(1000), microseconds(700), microseconds(100), microseconds(1000)}));
  EXPECT_LE(l.statistics().polls, 4U);
}

TEST(TimerSlack, TheDeadlineForAnOuterLoopHasItToo) {
  sim::world world(1);
  loop l(world);
  l.call_later(std::chrono::nanoseconds(200), [] {});
  const monotonic_time exact = *l.next_deadline();
  l.set_timer_slack(milliseconds(1));
  EXPECT_EQ(*l.next_deadline(), exact + milliseconds(1));
}

class InAnotherLoop : public testing::TestWithParam<const char*> {};

TEST_P(InAnotherLoop, TasksTimersAndPostsAreServed) {
  real_host host;
  loop events(host);
  child_recorder child(events);
  child.spawn({tests::binary_dir() + "/examples/in-" + GetParam()});
  child.run_to_exit();
  EXPECT_EQ(child.exit->code, 0) << child.output;
  EXPECT_EQ(child.output, "post\ntask\ntimer\n");
}

// Asio's fences are beyond the thread sanitizer: that build has no program of it.
#if defined(__SANITIZE_THREAD__)
INSTANTIATE_TEST_SUITE_P(Nesting, InAnotherLoop, testing::Values("libuv", "glib"));
#else
INSTANTIATE_TEST_SUITE_P(Nesting, InAnotherLoop, testing::Values("asio", "libuv", "glib"));
#endif

}  // namespace
}  // namespace looptask
