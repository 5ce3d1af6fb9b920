#include "sim/processes.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "sim/recorder.hpp"
#include "sim/world.hpp"

namespace looptask::sim {
namespace {

using namespace std::chrono_literals;
using test::posted;
using test::process_recorder;
using lines = std::vector<std::string>;

process_spec command(std::string name, std::string run_id = "R1") {
  process_spec spec;
  spec.argv = {std::move(name)};
  spec.env = {"LOOPTASK_RUN_ID=" + run_id};
  spec.workdir = "/";
  return spec;
}

struct virtual_process : testing::Test {
  world w{1};
  std::optional<posted> loop{std::in_place, w};
  process_recorder events;

  void run_until(duration until) {
    while (w.now() < until) w.reactor().wait(w.reading_at(until));
    w.reactor().wait(w.reading_at(until));
  }
};

TEST_F(virtual_process, takes_its_time_and_tells_in_order) {
  w.program("job",
            {.takes = 2s, .exit_code = 3, .output = {{0s, "a"}, {1s, "b"}, {9s, "never"}}, .cpu = 1500us, .max_rss = 4096});
  const auto child = w.processes().spawn(command("job"), events);
  EXPECT_TRUE(events.lines.empty()) << "nothing is told from inside spawn()";
  w.reactor().wait(w.reading_at(0s));
  EXPECT_EQ(events.lines, (lines{"spawned", "output"}));
  run_until(5s);
  ASSERT_TRUE(events.over());
  EXPECT_EQ(events.output, "ab");
  EXPECT_EQ(events.exit->code, 3);
  EXPECT_EQ(events.exit->signal, std::nullopt);
  EXPECT_EQ(events.exit->at, w.reading_at(2s));
  EXPECT_EQ(events.exit->cpu, 1500us);
  EXPECT_EQ(events.exit->max_rss, 4096);
  EXPECT_TRUE(w.alive().empty());
}

TEST_F(virtual_process, ends_with_the_loop_only_if_it_is_to) {
  w.program("job", {.takes = 1h, .children = {{.takes = 1h}}});
  process_spec spec = command("job");
  EXPECT_EQ(w.processes().containment(), containment_tier::tree);
  const auto stays = w.processes().spawn(spec, events);
  EXPECT_EQ(stays->tier(), containment_tier::tree);
  spec.containment = containment_tier::tree;
  spec.end_with_us = true;
  const auto goes = w.processes().spawn(spec, events);
  w.reactor().wait(w.reading_at(0s));
  ASSERT_EQ(w.alive().size(), 2U);
  loop.reset();
  ASSERT_EQ(w.alive().size(), 1U);
  EXPECT_TRUE(w.alive().front().main);
  EXPECT_EQ(w.alive().front().children, 1);
}

TEST_F(virtual_process, that_cannot_be_found_fails_to_spawn) {
  const auto child = w.processes().spawn(command("nowhere"), events);
  run_until(1s);
  EXPECT_EQ(events.lines, (lines{"failed exec nowhere " + std::to_string(ENOENT)}));
}

TEST_F(virtual_process, that_failed_to_spawn_has_nothing_more_to_tell_when_it_is_killed) {
  const auto child = w.processes().spawn(command("nowhere"), events);
  run_until(1s);
  child->signal_group(SIGTERM);
  std::pair<int, int> answer{-1, -1};
  child->kill_session([&](int killed, int left) { answer = {killed, left}; });
  run_until(2s);
  EXPECT_EQ(answer, (std::pair{0, 0}));
  EXPECT_EQ(events.lines.size(), 1U);
}

TEST_F(virtual_process, dies_of_the_signal_at_once) {
  w.program("job", {.takes = 10s});
  const auto child = w.processes().spawn(command("job"), events);
  run_until(1s);
  child->signal_group(SIGTERM);
  EXPECT_EQ(events.lines, (lines{"spawned"})) << "nothing is told from inside signal_group()";
  run_until(2s);
  ASSERT_TRUE(events.over());
  EXPECT_EQ(events.exit->signal, SIGTERM);
  EXPECT_EQ(events.exit->at, w.reading_at(1s));
}

TEST_F(virtual_process, that_outlives_kill_is_reported_after_the_bound_and_ends_in_its_own_time) {
  w.program("job", {.takes = for_ever, .outlives_kill = 8s, .children = {{.outlives_kill = for_ever}}});
  const auto child = w.processes().spawn(command("job"), events);
  std::vector<std::string> answers;
  const auto answer = [&](int killed, int left) { answers.push_back(std::to_string(killed) + "/" + std::to_string(left)); };
  run_until(1s);
  child->kill_session(answer);
  run_until(5999ms);
  EXPECT_TRUE(answers.empty());
  run_until(6s);
  EXPECT_EQ(answers, (lines{"1/2"}));
  EXPECT_FALSE(events.exit);
  child->kill_session(answer);  // does not begin its time anew
  w.processes().kill_leftovers({{"R1", {}}}, answer);
  run_until(11s);
  EXPECT_EQ(answers, (lines{"1/2", "1/1", "2/1"}));
  ASSERT_TRUE(events.exit);
  EXPECT_EQ(events.exit->at, w.reading_at(9s));
  EXPECT_EQ(events.exit->signal, SIGKILL);
  loop.reset();
  w.reboot();
  EXPECT_TRUE(w.alive().empty()) << "nothing outlives the machine";
}

TEST_F(virtual_process, that_ignores_signals_ends_by_kill_session) {
  w.program("job", {.takes = for_ever, .on_signal = reaction::ignores});
  const auto child = w.processes().spawn(command("job"), events);
  run_until(1s);
  child->signal_group(SIGTERM);
  run_until(3s);
  EXPECT_EQ(events.lines, (lines{"spawned"}));
  int left = -1;
  child->kill_session([&](int killed, int n) {
    left = n;
    EXPECT_EQ(killed, 0) << "the main process does not count";
    EXPECT_TRUE(events.over()) << "the ends come before the answer";
  });
  EXPECT_EQ(left, -1) << "never from inside kill_session()";
  run_until(4s);
  EXPECT_EQ(left, 0);
  EXPECT_EQ(events.exit->signal, SIGKILL);
}

TEST_F(virtual_process, may_meet_a_signal_with_an_exit_of_its_own) {
  w.program("job", {.takes = for_ever, .on_signal = reaction::exits, .signal_delay = 2s, .signal_exit_code = 7});
  const auto child = w.processes().spawn(command("job"), events);
  run_until(1s);
  child->signal_group(SIGTERM);
  run_until(2s);
  child->signal_group(SIGTERM);  // does not begin anew
  run_until(5s);
  ASSERT_TRUE(events.exit.has_value());
  EXPECT_EQ(events.exit->code, 7);
  EXPECT_EQ(events.exit->at, w.reading_at(3s));
}

TEST_F(virtual_process, that_has_ended_is_not_hit_by_a_signal_of_the_same_instant) {
  w.program("job", {.takes = 2s});
  const auto child = w.processes().spawn(command("job"), events);
  w.stall(1500ms, 3s);
  process_recorder other;
  w.program("first", {.takes = 1600ms});
  const auto first = w.processes().spawn(command("first"), other);
  while (!other.exit) w.reactor().wait(w.reading_at(9s));
  child->signal_group(SIGKILL);
  run_until(4s);
  EXPECT_EQ(events.exit->code, 0) << "it had ended by itself during the stall";
  EXPECT_EQ(events.exit->at, w.reading_at(2s));
}

TEST_F(virtual_process, leaves_children_that_hold_the_output) {
  w.program("job", {.takes = 1s, .children = {{.takes = 4s}, {.takes = for_ever, .holds_output = false}}});
  const auto child = w.processes().spawn(command("job"), events);
  run_until(3s);
  EXPECT_EQ(events.lines, (lines{"spawned", "exit 0"}));
  run_until(5s);
  EXPECT_EQ(events.lines, (lines{"spawned", "exit 0", "output-end"}));
  ASSERT_EQ(w.alive().size(), 1U);
  EXPECT_FALSE(w.alive()[0].main);
  EXPECT_EQ(w.alive()[0].children, 1);
  std::pair<int, int> answer{-1, -1};
  child->kill_session([&](int killed, int left) { answer = {killed, left}; });
  run_until(6s);
  EXPECT_EQ(answer, (std::pair{1, 0}));
  EXPECT_TRUE(w.alive().empty());
}

TEST_F(virtual_process, goes_on_when_its_handle_is_destroyed_but_tells_nobody) {
  w.program("job", {.takes = 2s});
  {
    const auto child = w.processes().spawn(command("job"), events);
    run_until(1s);
  }
  EXPECT_EQ(w.alive().size(), 1U);
  run_until(3s);
  EXPECT_TRUE(w.alive().empty());
  EXPECT_EQ(events.lines, (lines{"spawned"}));
}

TEST_F(virtual_process, of_an_earlier_life_is_found_by_run_id_and_by_identity) {
  w.program("job", {.takes = for_ever, .children = {{}}});
  process_recorder b, c;
  auto first = w.processes().spawn(command("job", "R1"), events);
  auto second = w.processes().spawn(command("job", "R2"), b);
  auto third = w.processes().spawn(command("job", "R3"), c);
  run_until(1s);
  first.reset();
  second.reset();
  third.reset();
  loop.reset();
  w.pass_until(5s);
  loop.emplace(w);
  ASSERT_EQ(w.alive().size(), 3U);
  process_identity reused = b.identity;
  ++reused.start_time;  // the pid belongs to somebody else by now
  std::pair<int, int> answer{-1, -1};
  w.processes().kill_leftovers({{"R1", {}}, {"none", reused}, {"none", c.identity}}, [&](int killed, int left) {
    answer = {killed, left};
  });
  run_until(6s);
  EXPECT_EQ(answer, (std::pair{4, 0}));
  ASSERT_EQ(w.alive().size(), 1U);
  EXPECT_EQ(w.alive()[0].run_id, "R2");
}

TEST_F(virtual_process, answers_nobody_after_the_loop_is_gone) {
  w.program("job", {.takes = for_ever});
  bool answered = false;
  auto child = w.processes().spawn(command("job"), events);
  child->kill_session([&](int, int) { answered = true; });
  w.processes().kill_leftovers({}, [&](int, int) { answered = true; });
  child.reset();
  loop.reset();
  w.pass_until(1s);
  EXPECT_FALSE(answered);
  EXPECT_TRUE(events.lines.empty());
}

TEST_F(virtual_process, tells_nobody_after_the_loop_is_gone_even_while_its_handle_lives) {
  w.program("job", {.takes = 1s});
  process_recorder failed, later;
  bool answered = false;
  const auto over = w.processes().spawn(command("job"), events);
  run_until(2s);
  const auto seen = events.lines;
  over->kill_session([&](int, int) { answered = true; });
  const auto none = w.processes().spawn(command("nowhere"), failed);
  const auto job = w.processes().spawn(command("job"), later);
  job->kill_session([&](int, int) { answered = true; });
  loop.reset();
  w.pass_until(5s);
  loop.emplace(w);
  run_until(6s);
  EXPECT_FALSE(answered);
  EXPECT_EQ(events.lines, seen);
  EXPECT_TRUE(failed.lines.empty());
  EXPECT_TRUE(later.lines.empty());
}

TEST_F(virtual_process, decision_sees_the_spec_of_each_spawn) {
  std::vector<std::string> asked;
  w.default_program([&](const process_spec& spec) {
    asked.push_back(spec.argv[0]);
    program p;
    p.exit_code = static_cast<int>(asked.size());
    return p;
  });
  process_recorder second;
  const auto a = w.processes().spawn(command("x"), events);
  const auto b = w.processes().spawn(command("y"), second);
  run_until(1s);
  EXPECT_EQ(asked, (lines{"x", "y"}));
  EXPECT_EQ(events.exit->code, 1);
  EXPECT_EQ(second.exit->code, 2);
}

}  // namespace
}  // namespace looptask::sim
