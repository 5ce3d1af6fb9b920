// The loop itself in virtual time.
#include <gtest/gtest.h>

#include <csignal>

#include <looptask/loop.hpp>

#include "sim/recorder.hpp"
#include "sim/world.hpp"

namespace looptask::sim {
namespace {

using namespace std::chrono_literals;

TEST(loop_in_a_world, jumps_from_timer_to_timer) {
  world w(1);
  loop l(w);
  std::vector<duration> fired;
  l.call_later(24h, [&] { fired.push_back(w.now()); });
  l.call_later(1s, [&] {
    fired.push_back(w.now());
    l.call_later(1h, [&] { fired.push_back(w.now()); });
  });
  l.run();
  EXPECT_EQ(fired, (std::vector<duration>{1s, 1h + 1s, 24h}));
}

TEST(loop_in_a_world, hears_of_a_process_end_before_its_own_timer_of_that_instant) {
  world w(1);
  loop l(w);
  w.program("job", {.takes = 5s});
  test::process_recorder events;
  const auto child = w.processes().spawn({.argv = {"job"}, .env = {}, .workdir = "/"}, events);
  bool ended = false;
  l.call_at(w.reading_at(5s), [&] { ended = events.over(); });
  l.run();
  EXPECT_TRUE(ended);
}

TEST(loop_in_a_world, that_can_only_wait_for_ever_is_told_so) {
  world w(1);
  loop l(w);
  const auto hold = l.hold();
  EXPECT_THROW(l.run(), deadlock);
}

TEST(loop_in_a_world, crashes_before_its_timers_of_that_instant_and_another_loop_goes_on) {
  world w(1);
  w.program("job", {.takes = 10s});
  w.crash_at(3s);
  bool fired = false;
  test::process_recorder events;
  {
    loop l(w);
    const auto child = w.processes().spawn({.argv = {"job"}, .env = {"LOOPTASK_RUN_ID=R"}, .workdir = "/"}, events);
    l.call_at(w.reading_at(3s), [&] { fired = true; });
    EXPECT_THROW(l.run(), crash);
  }
  EXPECT_FALSE(fired);
  EXPECT_FALSE(events.exit.has_value());
  w.pass_until(5s);
  ASSERT_EQ(w.alive().size(), 1U);
  int killed = 0;
  loop next(w);
  auto hold = std::make_unique<loop_hold>(next.hold());
  w.processes().kill_leftovers({{"R", std::nullopt}}, [&](int n, int) {
    killed = n;
    hold.reset();
  });
  next.run();
  EXPECT_EQ(killed, 1);
  EXPECT_EQ(w.now(), 5s);
}

TEST(loop_in_a_world, does_nothing_while_stalled) {
  world w(1);
  loop l(w);
  w.stall(2s, 6s);
  std::vector<duration> fired;
  for (const auto at : {1s, 2s, 3s, 6s, 7s}) {
    l.call_at(w.reading_at(at), [&] { fired.push_back(w.now()); });
  }
  l.run();
  EXPECT_EQ(fired, (std::vector<duration>{1s, 6s, 6s, 6s, 7s}));
}

TEST(loop_in_a_world, gets_an_exception_of_an_event_in_its_error_handler) {
  world w(1);
  loop l(w);
  int errors = 0;
  l.on_error([&](std::exception_ptr) { ++errors; });
  w.call_at(1s, [] { throw std::runtime_error("planned"); });
  bool fired = false;
  l.call_later(2s, [&] { fired = true; });
  l.run();
  EXPECT_EQ(errors, 1);
  EXPECT_TRUE(fired);
}

TEST(loop_in_a_world, idle_work_sees_all_events_and_timers_of_its_instant) {
  world w(1);
  loop l(w);
  std::vector<std::string> order;
  w.call_at(1s, [&] {
    order.emplace_back("event");
    l.call_idle([&] { order.emplace_back("idle"); });
    w.call_at(1s, [&] { order.emplace_back("second event"); });
  });
  l.call_later(1s, [&] { order.emplace_back("timer"); });
  l.run();
  EXPECT_EQ(order, (std::vector<std::string>{"event", "timer", "second event", "idle"}));
}

}  // namespace
}  // namespace looptask::sim
