// What real_host and sim::world must do alike: one suite for both. The children are the same shell scripts; the world knows for
// each of them what it does.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include "sim/recorder.hpp"
#include "sim/world.hpp"

namespace looptask {
namespace {

using namespace std::chrono_literals;
using test::process_recorder;
using strings = std::vector<std::string>;

// --- the scripts, and what they do

const std::string quick = "exit 3";
const std::string talks = "printf 'out '; printf 'err ' >&2; printf 'again'";
const std::string sleeps = "echo up; exec sleep 600";
const std::string ignores = "trap '' TERM; while :; do sh -c 'echo up; exec sleep 600'; done";
const std::string answers = "trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done";
const std::string dies = "kill -USR1 $$";
// Children that outlive the script: one holds the output, one does not.
const std::string leaves_holder = "sleep 600 & echo up";
const std::string leaves_quiet = "sleep 600 >/dev/null 2>&1 & echo up";

sim::program meaning(const process_spec& spec) {
  if (spec.argv.at(0) != "/bin/sh") return {.spawn_error = ENOENT};
  const std::string& script = spec.argv.at(2);
  const sim::program::text up{.after = 1ms, .bytes = "up\n"};
  if (script == quick) return {.takes = 1ms, .exit_code = 3};
  if (script == talks) return {.takes = 2ms, .output = {{1ms, "out "}, {1ms, "err "}, {2ms, "again"}}};
  if (script == sleeps) return {.takes = 600s, .output = {up}};
  if (script == answers)
    return {.takes = sim::for_ever, .on_signal = sim::reaction::exits, .signal_exit_code = 7, .output = {up}};
  if (script == dies) return {.takes = 1ms, .signal = SIGUSR1};
  if (script == leaves_holder) return {.takes = 2ms, .output = {up}, .children = {{.takes = 600s}}};
  if (script == leaves_quiet) return {.takes = 2ms, .output = {up}, .children = {{.takes = 600s, .holds_output = false}}};
  if (script == ignores) {
    return {.takes = sim::for_ever,
            .on_signal = sim::reaction::ignores,
            .output = {up},
            .children = {{.takes = sim::for_ever, .on_signal = sim::reaction::ignores}}};
  }
  return {.spawn_error = ENOENT};
}

// --- the two hosts

struct real_one {
  real_host where;
  std::string folder;
  real_one() {
    folder = (std::filesystem::temp_directory_path() / "looptask-host-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp");
  }
  ~real_one() { std::filesystem::remove_all(folder); }
  real_one(const real_one&) = delete;
  real_one& operator=(const real_one&) = delete;
  void raise(int number) { ::kill(::getpid(), number); }
  // Sets the wall clock to what it shows; false if we may not.
  bool set_wall_clock() {
    timespec now{};
    return ::clock_gettime(CLOCK_REALTIME, &now) == 0 && ::clock_settime(CLOCK_REALTIME, &now) == 0;
  }
};

struct simulated {
  sim::world where{1};
  std::string folder = "/tmp/host";
  simulated() {
    where.files().make_directories(folder, 0700);
    where.default_program(meaning);
  }
  void raise(int number) { where.raise(where.now(), number); }
  bool set_wall_clock() {
    where.wall_jump(where.now(), 0us);
    return true;
  }
};

template <class Host>
struct host_conformance : testing::Test {
  Host it;
  std::optional<loop> l{std::in_place, it.where};
  std::optional<loop_hold> held{l->hold()};
  process_recorder events;

  void TearDown() override { held.reset(); }

  // Runs the loop until it is so; fails the test if that takes 20 s.
  template <class Predicate>
  void until(Predicate so) {
    bool late = false;
    timer_handle bound = l->call_later(20s, [&late] { late = true; });
    while (!so() && !late) l->run_once();
    bound.cancel();
    ASSERT_FALSE(late) << testing::PrintToString(events.lines);
  }
  process_spec script(const std::string& text, const std::string& run_id = "01RUN") {
    process_spec spec;
    spec.argv = {"/bin/sh", "-c", text};
    spec.env = {"PATH=/usr/bin:/bin", "LOOPTASK_RUN_ID=" + run_id};
    spec.workdir = "/";
    return spec;
  }
  std::unique_ptr<child_process> spawn(const std::string& text, const std::string& run_id = "01RUN") {
    return it.where.processes().spawn(script(text, run_id), events);
  }
  std::unique_ptr<child_process> spawn_and_wait_until_up(const std::string& text, const std::string& run_id = "01RUN") {
    auto child = spawn(text, run_id);
    until([this] { return events.output == "up\n"; });
    return child;
  }
  std::pair<int, int> kill(child_process& child) {
    std::optional<std::pair<int, int>> answer;
    child.kill_session([&](int killed, int left) { answer = {killed, left}; });
    EXPECT_FALSE(answer.has_value()) << "never from inside kill_session()";
    until([&] { return answer.has_value(); });
    return answer.value_or(std::pair{-1, -1});
  }
};

using hosts = testing::Types<real_one, simulated>;
TYPED_TEST_SUITE(host_conformance, hosts);

// --- clock and reactor

TYPED_TEST(host_conformance, clocks_go_forward_together) {
  clock_port& clock = this->it.where.clock();
  const auto mono = clock.monotonic();
  const auto boot = clock.boot();
  const auto wall = clock.wall();
  EXPECT_GT(wall, instant(std::chrono::hours(24 * 365 * 50)));
  EXPECT_FALSE(clock.boot_id().empty());
  EXPECT_EQ(clock.boot_id(), clock.boot_id());
  bool fired = false;
  this->l->call_later(20ms, [&] { fired = true; });
  this->until([&] { return fired; });
  EXPECT_GE(clock.monotonic() - mono, 20ms);
  EXPECT_GE(clock.boot() - boot, 20ms);
  EXPECT_GE(clock.wall() - wall, 19999us);  // slewing, and microseconds cut off
}

TYPED_TEST(host_conformance, a_wait_is_never_early_and_calls_nobody) {
  const auto deadline = this->it.where.clock().monotonic() + 10ms;
  EXPECT_FALSE(this->it.where.reactor().wait(deadline));
  EXPECT_GE(this->it.where.clock().monotonic(), deadline);
}

TYPED_TEST(host_conformance, a_deadline_in_the_past_polls) {
  EXPECT_FALSE(this->it.where.reactor().wait(monotonic_time{}));
  EXPECT_FALSE(this->it.where.reactor().wait(this->it.where.clock().monotonic()));
}

TYPED_TEST(host_conformance, a_wake_from_another_thread_ends_a_wait_without_deadline) {
  std::thread other([this] { this->it.where.reactor().wake(); });
  other.join();
  EXPECT_FALSE(this->it.where.reactor().wait(std::nullopt));
}

TYPED_TEST(host_conformance, work_posted_by_another_thread_runs_on_the_loop) {
  std::thread::id where;
  std::thread other([&] { this->l->post([&] { where = std::this_thread::get_id(); }); });
  other.join();  // virtual time does not wait for other threads
  this->until([&] { return where != std::thread::id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

TYPED_TEST(host_conformance, one_loop_after_another_takes_the_host) {
  this->held.reset();
  this->l.reset();
  loop second(this->it.where);
  bool fired = false;
  second.call_later(1ms, [&] { fired = true; });
  second.run();
  EXPECT_TRUE(fired);
  EXPECT_EQ(&second.where(), &this->it.where);
}

TYPED_TEST(host_conformance, a_handler_of_wall_steps_may_put_another_in_its_place) {
  clock_port& clock = this->it.where.clock();
  int first = 0, second = 0;
  clock.on_wall_step([&clock, &first, &second, held = std::vector<int>(1000, 1)] {
    clock.on_wall_step([&second] { ++second; });
    first += held.back();
  });
  if (!this->it.set_wall_clock()) GTEST_SKIP() << "may not set the clock";
  this->until([&] { return first == 1; });
  this->it.set_wall_clock();
  this->until([&] { return second == 1; });
  clock.on_wall_step([&clock, &second, held = std::vector<int>(1000, 1)] {
    clock.on_wall_step(nullptr);
    second += held.back();
  });
  this->it.set_wall_clock();
  this->until([&] { return second == 2; });
  EXPECT_EQ(first, 1);
}

// --- signals

TYPED_TEST(host_conformance, a_watched_signal_is_a_call_on_the_loop) {
  strings seen;
  signal_port& signals = this->it.where.signals();
  signals.watch(SIGUSR1, [&](int number) { seen.push_back("usr1 " + std::to_string(number)); });
  signals.watch(SIGUSR2, [&](int number) { seen.push_back("usr2 " + std::to_string(number)); });
  this->it.raise(SIGUSR2);
  EXPECT_TRUE(seen.empty());
  this->until([&] { return !seen.empty(); });
  this->it.raise(SIGUSR1);
  this->until([&] { return seen.size() == 2; });
  EXPECT_EQ(seen, (strings{"usr2 " + std::to_string(SIGUSR2), "usr1 " + std::to_string(SIGUSR1)}));
  signals.unwatch(SIGUSR1);
  signals.unwatch(SIGUSR2);
}

TYPED_TEST(host_conformance, a_signal_handler_may_unwatch_itself) {
  int calls = 0;
  this->it.where.signals().watch(SIGUSR1, [&](int number) {
    ++calls;
    this->it.where.signals().unwatch(number);
  });
  this->it.raise(SIGUSR1);
  this->until([&] { return calls == 1; });
  this->it.where.signals().watch(SIGUSR1, [&](int) { calls += 10; });
  this->it.raise(SIGUSR1);
  this->until([&] { return calls == 11; });
}

// --- processes

TYPED_TEST(host_conformance, a_process_is_spawned_then_ends_with_its_code) {
  const auto before = this->it.where.clock().monotonic();
  const auto child = this->spawn(quick);
  EXPECT_TRUE(this->events.lines.empty()) << "nothing is told from inside spawn()";
  this->until([this] { return this->events.over(); });
  EXPECT_EQ(this->events.lines.at(0), "spawned");
  EXPECT_EQ(this->events.lines.size(), 3U);
  EXPECT_EQ(this->events.exit->code, 3);
  EXPECT_EQ(this->events.exit->signal, std::nullopt);
  EXPECT_GT(this->events.exit->at, before);
  EXPECT_LE(this->events.exit->at, this->it.where.clock().monotonic());
  EXPECT_GT(this->events.identity.pid, 1);
  EXPECT_EQ(this->events.identity.boot_id, this->it.where.clock().boot_id());
}

TYPED_TEST(host_conformance, output_and_errors_come_in_the_order_written_and_before_their_end) {
  const auto child = this->spawn(talks);
  this->until([this] { return this->events.over(); });
  EXPECT_EQ(this->events.output, "out err again");
  const strings& lines = this->events.lines;
  const auto last_output = std::find(lines.rbegin(), lines.rend(), "output");
  const auto end = std::find(lines.rbegin(), lines.rend(), "output-end");
  EXPECT_LT(end, last_output);
  EXPECT_EQ(this->events.exit->code, 0);
}

TYPED_TEST(host_conformance, a_process_that_dies_of_a_signal_says_which) {
  const auto child = this->spawn(dies);
  this->until([this] { return this->events.over(); });
  EXPECT_EQ(this->events.exit->signal, SIGUSR1);
  EXPECT_EQ(this->events.exit->code, std::nullopt);
}

TYPED_TEST(host_conformance, what_cannot_be_executed_fails_with_its_errno_alone) {
  process_spec spec = this->script(quick);
  spec.argv[0] = "/nowhere/at/all";
  const auto child = this->it.where.processes().spawn(spec, this->events);
  EXPECT_TRUE(this->events.lines.empty());
  this->until([this] { return !this->events.lines.empty(); });
  bool later = false;
  this->l->call_later(5ms, [&] { later = true; });
  this->until([&] { return later; });
  EXPECT_EQ(this->events.lines, (strings{"failed exec /nowhere/at/all " + std::to_string(ENOENT)}));
}

TYPED_TEST(host_conformance, a_program_without_name_or_with_a_relative_folder_is_misuse) {
  process_spec nameless = this->script(quick);
  nameless.argv.clear();
  EXPECT_DEATH(this->it.where.processes().spawn(nameless, this->events), "argv is empty");
  process_spec somewhere = this->script(quick);
  somewhere.workdir = "tmp";
  EXPECT_DEATH(this->it.where.processes().spawn(somewhere, this->events), "absolute workdir");
}

TYPED_TEST(host_conformance, what_could_not_be_started_has_nobody_to_be_killed) {
  process_spec spec = this->script(quick);
  spec.argv[0] = "/nowhere/at/all";
  const auto child = this->it.where.processes().spawn(spec, this->events);
  this->until([this] { return !this->events.lines.empty(); });
  EXPECT_EQ(this->kill(*child), (std::pair{0, 0}));
  EXPECT_EQ(this->events.lines.size(), 1U);
}

TYPED_TEST(host_conformance, a_kill_before_the_failure_of_a_start_is_told_is_answered_after_it) {
  process_spec spec = this->script(quick);
  spec.argv[0] = "/nowhere/at/all";
  const auto child = this->it.where.processes().spawn(spec, this->events);
  EXPECT_EQ(this->kill(*child), (std::pair{0, 0}));
  EXPECT_EQ(this->events.lines.size(), 1U);
}

TYPED_TEST(host_conformance, a_signal_to_the_group_ends_what_does_not_ignore_it) {
  const auto child = this->spawn_and_wait_until_up(sleeps);
  child->signal_group(SIGTERM);
  this->until([this] { return this->events.over(); });
  EXPECT_EQ(this->events.exit->signal, SIGTERM);
}

TYPED_TEST(host_conformance, a_process_may_meet_a_signal_with_an_exit_of_its_own) {
  const auto child = this->spawn_and_wait_until_up(answers);
  child->signal_group(SIGTERM);
  this->until([this] { return this->events.exit.has_value(); });
  EXPECT_EQ(this->events.exit->code, 7);
}

TYPED_TEST(host_conformance, kill_session_ends_what_ignores_signals_and_answers_after_the_exit) {
  const auto child = this->spawn_and_wait_until_up(ignores);
  child->signal_group(SIGTERM);
  const auto [killed, left] = this->kill(*child);
  EXPECT_EQ(killed, 1);
  EXPECT_EQ(left, 0);
  ASSERT_TRUE(this->events.exit.has_value()) << "the exit is told before the answer";
  EXPECT_EQ(this->events.exit->signal, SIGKILL);
}

TYPED_TEST(host_conformance, output_ends_when_the_last_process_that_holds_it_does) {
  const auto child = this->spawn_and_wait_until_up(leaves_holder);
  this->until([this] { return this->events.exit.has_value(); });
  EXPECT_EQ(this->events.exit->code, 0);
  EXPECT_FALSE(this->events.output_ended);
  EXPECT_EQ(this->kill(*child), (std::pair{1, 0}));
  this->until([this] { return this->events.output_ended; });
}

TYPED_TEST(host_conformance, what_is_left_alive_is_neither_exit_nor_output) {
  const auto child = this->spawn_and_wait_until_up(leaves_quiet);
  this->until([this] { return this->events.over(); });
  EXPECT_EQ(this->kill(*child), (std::pair{1, 0}));
  EXPECT_EQ(this->kill(*child), (std::pair{0, 0}));
}

TYPED_TEST(host_conformance, a_destroyed_handle_tells_nothing_more_and_leaves_the_process_alone) {
  const std::string run = "01GONE";
  auto child = this->spawn_and_wait_until_up(sleeps, run);
  child.reset();
  std::optional<std::pair<int, int>> answer;
  this->it.where.processes().kill_leftovers({{run, std::nullopt}}, [&](int killed, int left) { answer = {killed, left}; });
  this->until([&] { return answer.has_value(); });
  EXPECT_EQ(answer, (std::pair{1, 0}));
  EXPECT_EQ(this->events.lines, (strings{"spawned", "output"}));
}

TYPED_TEST(host_conformance, leftovers_are_found_by_run_id_and_by_identity_and_no_others) {
  process_recorder by_identity, other;
  auto first = this->spawn_and_wait_until_up(ignores, "01FIRST");
  auto second = this->it.where.processes().spawn(this->script(sleeps, "01SECOND"), by_identity);
  auto third = this->it.where.processes().spawn(this->script(sleeps, "01THIRD"), other);
  this->until([&] { return by_identity.output == "up\n" && other.output == "up\n"; });
  process_identity reused = other.identity;
  ++reused.start_time;  // the pid was somebody else's
  std::optional<std::pair<int, int>> answer;
  this->it.where.processes().kill_leftovers({{"01FIRST", std::nullopt}, {"01NONE", by_identity.identity}, {"01NONE", reused}},
                                            [&](int killed, int left) {
                                              answer = {killed, left};
                                            });
  EXPECT_FALSE(answer.has_value());
  this->until([&] { return answer.has_value(); });
  EXPECT_EQ(answer->second, 0);
  this->until([&] { return this->events.over() && by_identity.over(); });
  EXPECT_EQ(this->events.exit->signal, SIGKILL);
  EXPECT_EQ(by_identity.exit->signal, SIGKILL);
  EXPECT_FALSE(other.exit.has_value());
  EXPECT_EQ(this->kill(*third), (std::pair{0, 0}));
}

// --- files

template <class F>
int error_of(F&& f) {
  try {
    f();
  } catch (const std::system_error& e) {
    return e.code().value();
  }
  return 0;
}

TYPED_TEST(host_conformance, files_keep_what_was_appended) {
  file_port& files = this->it.where.files();
  const std::string folder = this->it.folder + "/a/b";
  EXPECT_FALSE(files.exists(folder));
  files.make_directories(folder, 0700);
  files.make_directories(folder, 0700);
  EXPECT_TRUE(files.exists(folder));
  files.append(folder + "/c", "one ");
  files.append(folder + "/c", "two");
  EXPECT_EQ(files.read(folder + "/c"), "one two");
  EXPECT_TRUE(files.exists(folder + "/c"));
}

TYPED_TEST(host_conformance, files_fail_with_the_same_errors) {
  file_port& files = this->it.where.files();
  const std::string file = this->it.folder + "/file";
  files.append(file, "12345678");
  EXPECT_EQ(error_of([&] { files.read(this->it.folder + "/none"); }), ENOENT);
  EXPECT_EQ(error_of([&] { files.read(this->it.folder); }), EISDIR);
  EXPECT_EQ(error_of([&] { files.read(file, 7); }), EFBIG);
  EXPECT_EQ(error_of([&] { files.read(file, 8); }), 0);
  EXPECT_EQ(error_of([&] { files.append(this->it.folder + "/none/x", "y"); }), ENOENT);
  EXPECT_EQ(error_of([&] { files.append(file + "/x", "y"); }), ENOTDIR);
  EXPECT_EQ(error_of([&] { files.append(this->it.folder, "y"); }), EISDIR);
  EXPECT_EQ(error_of([&] { files.make_directories(file + "/x", 0700); }), ENOTDIR);
}

TYPED_TEST(host_conformance, a_lock_has_one_holder_at_a_time) {
  file_port& files = this->it.where.files();
  const std::string path = this->it.folder + "/lock";
  auto first = files.try_lock(path);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(files.try_lock(path), nullptr);
  first.reset();
  EXPECT_NE(files.try_lock(path), nullptr);
  EXPECT_EQ(error_of([&] { files.try_lock(this->it.folder + "/none/lock"); }), ENOENT);
}

// --- randomness

TYPED_TEST(host_conformance, random_numbers_differ) {
  random_port& random = this->it.where.random();
  const std::uint64_t a = random.next(), b = random.next(), c = random.next();
  EXPECT_TRUE(a != b || b != c);
}

}  // namespace
}  // namespace looptask
