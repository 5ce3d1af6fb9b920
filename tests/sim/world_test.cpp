#include "sim/world.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <system_error>

#include "sim/recorder.hpp"

namespace looptask::sim {
namespace {

using namespace std::chrono_literals;
using test::posted;

TEST(world, wait_jumps_to_the_deadline_and_never_beyond) {
  world w(1);
  posted loop(w);
  EXPECT_FALSE(w.reactor().wait(w.reading_at(3s)));
  EXPECT_EQ(w.now(), 3s);
  EXPECT_EQ(w.clock().monotonic(), w.reading_at(3s));
  EXPECT_EQ(w.wall_now(), default_wall0 + 3s);
  w.reactor().wait(w.reading_at(1s));  // has passed: a poll
  EXPECT_EQ(w.now(), 3s);
}

TEST(world, an_event_before_the_deadline_ends_the_wait_at_its_own_time) {
  world w(1);
  posted loop(w);
  std::vector<duration> seen;
  w.call_at(1s, [&] { seen.push_back(w.now()); });
  w.call_at(2s, [&] { seen.push_back(w.now()); });
  EXPECT_TRUE(w.reactor().wait(w.reading_at(5s)));
  EXPECT_EQ(seen, (std::vector<duration>{1s}));
  w.reactor().wait(w.reading_at(2s));
  EXPECT_EQ(seen, (std::vector<duration>{1s, 2s}));
}

TEST(world, what_is_planned_during_delivery_comes_with_the_next_wait_of_the_same_instant) {
  world w(1);
  posted loop(w);
  int depth = 0;
  w.call_at(1s, [&] { w.call_at(1s, [&] { ++depth; }); });
  w.reactor().wait(std::nullopt);
  EXPECT_EQ(depth, 0);
  w.reactor().wait(w.reading_at(9s));
  EXPECT_EQ(depth, 1);
  EXPECT_EQ(w.now(), 1s);
}

TEST(world, wake_makes_the_next_wait_a_poll) {
  world w(1);
  posted loop(w);
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.turn(w.reading_at(5s));
  EXPECT_TRUE(ran);
  EXPECT_EQ(w.now(), 0s);
}

TEST(world, nothing_pending_and_no_deadline_is_a_deadlock) {
  world w(1);
  posted loop(w);
  w.reactor().wait(w.reading_at(1500ms));
  try {
    w.reactor().wait(std::nullopt);
    FAIL() << "no deadlock";
  } catch (const deadlock& e) {
    EXPECT_NE(std::string(e.what()).find("1.500000000 s"), std::string::npos) << e.what();
  }
}

TEST(world, a_wall_jump_moves_the_wall_clock_alone_and_is_told_before_the_rest_of_its_instant) {
  world w(1);
  posted loop(w);
  std::vector<std::string> order;
  w.call_at(2s, [&] { order.emplace_back("event"); });
  w.wall_jump(2s, -1h);
  w.clock().on_wall_step([&] { order.emplace_back("step"); });
  w.reactor().wait(w.reading_at(2s));
  EXPECT_EQ(order, (std::vector<std::string>{"step", "event"}));
  EXPECT_EQ(w.wall_now(), default_wall0 + 2s - 1h);
  EXPECT_EQ(w.clock().monotonic(), w.reading_at(2s));
  EXPECT_EQ(w.clock().boot(), 2s);
}

TEST(world, a_stall_hides_a_deadline_until_its_end) {
  world w(1);
  posted loop(w);
  w.stall(2s, 5s);
  w.reactor().wait(w.reading_at(2s));
  EXPECT_EQ(w.now(), 5s);
}

TEST(world, adjoining_stalls_are_one_and_the_end_of_a_stall_is_free) {
  world w(1);
  posted loop(w);
  w.stall(3s, 4s);
  w.stall(1s, 3s);
  w.stall(6s, 7s);
  w.reactor().wait(w.reading_at(1500ms));
  EXPECT_EQ(w.now(), 4s);
  w.reactor().wait(w.reading_at(5s));
  EXPECT_EQ(w.now(), 5s);
}

TEST(world, events_of_a_stall_come_at_its_end_in_the_order_of_their_times) {
  world w(1);
  posted loop(w);
  std::vector<int> order;
  w.stall(1s, 5s);
  w.call_at(3s, [&] { order.push_back(3); });
  w.call_at(2s, [&] { order.push_back(2); });
  w.call_at(5s, [&] { order.push_back(5); });
  w.reactor().wait(w.reading_at(9s));
  EXPECT_EQ(w.now(), 5s);
  EXPECT_EQ(order, (std::vector<int>{2, 3, 5}));
}

TEST(world, a_crash_comes_after_the_events_of_its_instant_and_before_its_deadlines) {
  world w(1);
  std::vector<std::string> seen;
  {
    posted loop(w);
    w.crash_at(2s);
    w.call_at(2s, [&] { seen.emplace_back("event"); });
    EXPECT_THROW(w.reactor().wait(w.reading_at(2s)), crash);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"event"}));
  w.pass_until(4s);
  posted next(w);
  w.reactor().wait(w.reading_at(6s));
  EXPECT_EQ(w.now(), 6s);
}

TEST(world, a_crash_reaches_a_stalled_loop) {
  world w(1);
  posted loop(w);
  w.stall(1s, 9s);
  w.crash_at(4s);
  EXPECT_THROW(w.reactor().wait(w.reading_at(2s)), crash);
  EXPECT_EQ(w.now(), 4s);
}

TEST(world, the_end_of_time_comes_before_every_event_of_its_instant) {
  world w(1);
  posted loop(w);
  bool ran = false;
  w.call_at(2s, [&] { ran = true; });
  w.end_at(2s);
  EXPECT_THROW(w.reactor().wait(w.reading_at(2s)), end_of_time);
  EXPECT_FALSE(ran);
}

TEST(world, signals_reach_their_watcher_and_only_as_long_as_it_watches) {
  world w(1);
  posted loop(w);
  std::vector<int> seen;
  w.signals().watch(SIGTERM, [&](int number) {
    seen.push_back(number);
    w.signals().unwatch(SIGTERM);
  });
  w.raise(1s, SIGTERM);
  w.raise(2s, SIGTERM);
  w.reactor().wait(std::nullopt);
  EXPECT_EQ(seen, (std::vector<int>{SIGTERM}));
  EXPECT_THROW(w.reactor().wait(std::nullopt), unhandled_signal);
}

TEST(world, a_descriptor_cannot_be_watched) {
  world w(1);
  struct ignore final : readiness_handler {
    void on_ready(readiness) override {}
  } handler;
  EXPECT_THROW(w.reactor().watch(3, readiness::read, handler), std::system_error);
}

TEST(world, a_reboot_starts_the_clocks_again_but_not_the_wall_clock) {
  world w(1);
  const std::string before = w.clock().boot_id();
  w.program("daemon", {.takes = for_ever});
  {
    posted loop(w);
    test::process_recorder events;
    const auto child = w.processes().spawn({.argv = {"daemon"}, .env = {}, .workdir = "/"}, events);
    w.reactor().wait(w.reading_at(1s));
  }
  EXPECT_EQ(w.alive().size(), 1U);
  w.pass_until(10s);
  w.reboot();
  EXPECT_TRUE(w.alive().empty());
  w.pass_until(12s);
  EXPECT_NE(w.clock().boot_id(), before);
  EXPECT_EQ(w.clock().boot(), 2s);
  EXPECT_EQ(w.clock().monotonic().time_since_epoch(), 2s);
  EXPECT_EQ(w.wall_now(), default_wall0 + 12s);
  posted loop(w);
  w.reactor().wait(w.reading_at(13s));
  EXPECT_EQ(w.now(), 13s);
}

std::uint64_t hash_of(std::uint64_t seed) {
  world w(seed);
  posted loop(w);
  w.default_program([&](const process_spec&) {
    program p;
    p.takes = duration(w.random().next() % 1'000'000'000);
    p.exit_code = static_cast<int>(w.random().next() % 3);
    return p;
  });
  test::process_recorder events;
  std::vector<std::unique_ptr<child_process>> children;
  for (int i = 0; i < 20; ++i) {
    children.push_back(w.processes().spawn({.argv = {"job"}, .env = {}, .workdir = "/"}, events));
    const duration until = w.now() + 50ms;
    while (w.now() < until) w.reactor().wait(w.reading_at(until));
  }
  return w.trace().hash();
}

TEST(world, the_same_seed_gives_the_same_trace_and_another_seed_another) {
  EXPECT_EQ(hash_of(7), hash_of(7));
  EXPECT_NE(hash_of(7), hash_of(8));
}

TEST(world_death, plans_lie_ahead) {
  world w(1);
  w.pass_until(5s);
  EXPECT_DEATH(w.call_at(4s, [] {}), "time that has passed");
}

}  // namespace
}  // namespace looptask::sim
