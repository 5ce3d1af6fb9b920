// Random worlds: whatever programs, signals and stalls come together, each process tells its story in the allowed order, ends
// no later than it must, and the same seed tells the same story.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <csignal>
#include <map>

#include <looptask/loop.hpp>

#include "sim/recorder.hpp"
#include "sim/world.hpp"

namespace looptask::sim {
namespace {

using namespace std::chrono_literals;

duration up_to(random_port& chance, duration most) {
  return duration(chance.next() % static_cast<std::uint64_t>(most.count()));
}
bool one_in(random_port& chance, unsigned n) { return chance.next() % n == 0; }

program any_program(random_port& chance) {
  program p;
  p.takes = one_in(chance, 8) ? for_ever : up_to(chance, 5s);
  p.exit_code = static_cast<int>(chance.next() % 3);
  if (one_in(chance, 6)) p.signal = SIGSEGV;
  p.on_signal = static_cast<reaction>(chance.next() % 3);
  p.signal_delay = up_to(chance, 1s);
  for (std::uint64_t i = chance.next() % 4; i > 0; --i) p.output.push_back({up_to(chance, 6s), "x"});
  for (std::uint64_t i = chance.next() % 3; i > 0; --i) {
    program::child c;
    if (one_in(chance, 2)) c.takes = up_to(chance, 8s);
    c.holds_output = one_in(chance, 2);
    if (one_in(chance, 3)) c.on_signal = reaction::ignores;
    p.children.push_back(c);
  }
  if (one_in(chance, 10)) p.spawn_error = EACCES;
  return p;
}

struct process {
  test::process_recorder events;
  std::unique_ptr<child_process> child;
  bool killed = false;
};

// Twenty processes, random signals, stalls and jumps; all sessions are killed after 20 s. Returns the trace's hash.
std::uint64_t story(std::uint64_t seed, std::vector<std::unique_ptr<process>>& processes, bool& all_dead) {
  world w(seed);
  loop l(w);
  w.default_program([&w](const process_spec&) { return any_program(w.random()); });
  for (int i = 0; i < 3; ++i) {
    const duration at = up_to(w.random(), 10s);
    w.stall(at, at + 1ms + up_to(w.random(), 2s));
    w.wall_jump(up_to(w.random(), 10s), microseconds(static_cast<std::int64_t>(w.random().next() % 7200) - 3600));
  }
  for (int i = 0; i < 20; ++i) {
    processes.push_back(std::make_unique<process>());
    process& one = *processes.back();
    l.call_later(up_to(w.random(), 10s),
                 [&w, &one] { one.child = w.processes().spawn({.argv = {"any"}, .env = {}, .workdir = "/"}, one.events); });
    l.call_later(10s + up_to(w.random(), 5s),
                 [&w, &one] { one.child->signal_group(one_in(w.random(), 2) ? SIGTERM : SIGINT); });
    l.call_later(20s, [&one] { one.child->kill_session([&one](int, int left) { one.killed = left == 0; }); });
  }
  l.call_later(21s, [] {});
  l.run();
  all_dead = w.alive().empty();
  for (auto& one : processes) one->child.reset();
  return w.trace().hash();
}

void check_story(const test::process_recorder& told) {
  const auto& lines = told.lines;
  RC_ASSERT(!lines.empty());
  if (lines[0].starts_with("failed")) {
    RC_ASSERT(lines.size() == 1U);
    return;
  }
  RC_ASSERT(lines[0] == "spawned");
  RC_ASSERT(told.over());
  RC_ASSERT(std::count(lines.begin(), lines.end(), "spawned") == 1);
  RC_ASSERT(std::count(lines.begin(), lines.end(), "output-end") == 1);
  const auto end = std::find(lines.begin(), lines.end(), "output-end");
  RC_ASSERT(std::find(end, lines.end(), "output") == lines.end());
  RC_ASSERT(told.exit->code.has_value() != told.exit->signal.has_value());
  RC_ASSERT(told.exit->at <= monotonic_time(20s));
}

RC_GTEST_PROP(random_world, tells_each_process_in_order_and_the_same_for_a_seed, (std::uint64_t seed)) {
  std::vector<std::unique_ptr<process>> first, second;
  bool all_dead = false;
  const std::uint64_t hash = story(seed, first, all_dead);
  RC_ASSERT(all_dead);
  for (const auto& one : first) {
    check_story(one->events);
    RC_ASSERT(one->killed);
  }
  RC_ASSERT(story(seed, second, all_dead) == hash);
  for (std::size_t i = 0; i < first.size(); ++i) RC_ASSERT(first[i]->events.lines == second[i]->events.lines);
}

}  // namespace
}  // namespace looptask::sim
