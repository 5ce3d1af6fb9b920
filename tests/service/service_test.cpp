#include "service/service.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "service/simulated_service.hpp"

namespace looptask::service {
namespace {

using namespace std::chrono_literals;

run_options lasting(microseconds time) {
  run_options how;
  how.lasting = time;
  return how;
}

run_options once() {
  run_options how;
  how.once = true;
  return how;
}

std::vector<ledger::run_record> runs_of(simulated_life& life, const std::string& job) {
  ledger::run_query query;
  query.job = job;
  query.ran_only = false;
  return life.history->runs(query);
}

TEST(service, runs_for_the_time_given_and_stops_cleanly) {
  sim::world world(1);
  world.program("work", {.takes = 100ms});
  simulated_life life(world, "[job.a]\nevery = \"1s\"\nfrom = \"grid\"\nrun = [\"work\"]\n", lasting(3500ms));
  life.run();
  EXPECT_TRUE(life.ended);
  EXPECT_EQ(world.now(), 3500ms);
  EXPECT_EQ(life.service->report().message, "");
  EXPECT_EQ(life.service->totals().total().runs, 4U);
  EXPECT_EQ(life.service->totals().total().failures(), 0U);
  EXPECT_EQ(runs_of(life, "a").size(), 4U);
}

TEST(service, says_at_its_start_what_it_works_with) {
  sim::world world(1);
  world.program("work", sim::program{});
  simulated_life life(
      world, "[job.a]\nat = 2025-01-01T00:01:00\nrun = [\"work\"]\n[job.b]\nevery=\"1s\"\nrun=[\"work\"]\nenabled = false\n",
      lasting(1s));
  life.run();
  EXPECT_EQ(life.lines.lines.at(0),
            "2025-01-01 00:00:00.000                    started: jobs.toml, 2 jobs (1 disabled), times in UTC (no "
            "service.timezone is "
            "set), data in /data, next due a at 2025-01-01 00:01:00.000");
}

TEST(service, a_reboot_job_runs_once_when_the_service_starts) {
  sim::world world(1);
  world.program("work", {.takes = 100ms});
  simulated_life life(world, "[job.a]\ncron = \"@reboot\"\nrun = [\"work\"]\n", lasting(60s));
  life.run();
  const auto runs = runs_of(life, "a");
  ASSERT_EQ(runs.size(), 1U) << life.lines.all();
  EXPECT_EQ(runs[0].result, run_result::success);
  EXPECT_EQ(runs[0].key.nominal, sim::default_wall0);
}

TEST(service, a_cron_every_follows_elapsed_time) {
  sim::world world(1);
  world.program("work", {.takes = 100ms});
  world.wall_jump(5s, -1h);
  simulated_life life(world, "[job.a]\ncron = \"@every 10s\"\nrun = [\"work\"]\n", lasting(35s));
  life.run();
  EXPECT_EQ(runs_of(life, "a").size(), 3U) << life.lines.all();
}

TEST(service, an_at_that_had_passed_is_told_once_and_never_runs) {
  sim::world world(1);
  world.program("work", {.takes = 100ms});
  simulated_life life(world, "[job.a]\nat = 2020-01-01T00:00:00Z\nrun = [\"work\"]\n", lasting(60s));
  life.run();
  EXPECT_EQ(life.lines.count({"its time had passed when the job was first seen", "never runs"}), 1) << life.lines.all();
  const auto slots = runs_of(life, "a");
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots[0].outcome, slot_outcome::missed);
}

TEST(service, a_disabled_job_is_known_and_has_no_slots) {
  sim::world world(1);
  world.program("work", sim::program{});
  simulated_life life(world, "[job.a]\nevery = \"1s\"\nrun = [\"work\"]\nenabled = false\n", lasting(5s));
  life.run();
  EXPECT_TRUE(life.service->jobs().status("a").has_value());
  EXPECT_EQ(runs_of(life, "a").size(), 0U);
}

TEST(service, once_runs_each_job_with_a_schedule_once_and_ends_when_all_have) {
  sim::world world(1);
  world.program("quick", {.takes = 100ms});
  world.program("slow", {.takes = 3s, .exit_code = 1});
  simulated_life life(world, R"(
[job.cron]
cron = "0 0 1 1 *"
run = ["quick"]
[job.every]
every = "10ms"
run = ["slow"]
[job.at]
at = 2020-01-01T00:00:00Z
run = ["quick"]
[job.by_hand]
run = ["quick"]
[job.disabled]
every = "1s"
enabled = false
run = ["quick"]
)",
                      once());
  life.run();
  EXPECT_TRUE(life.ended);
  EXPECT_EQ(world.now(), 3s);
  for (const char* job : {"cron", "every", "at"}) {
    const auto runs = runs_of(life, job);
    ASSERT_EQ(runs.size(), 1U) << job;
    EXPECT_EQ(runs[0].key.kind, run_kind::manual) << job;
  }
  for (const char* job : {"by_hand", "disabled"}) EXPECT_EQ(runs_of(life, job).size(), 0U) << job;
  EXPECT_EQ(life.service->totals().total().failures(), 1U);
}

TEST(service, once_waits_for_retries_and_for_room) {
  sim::world world(1);
  world.program("fails", {.takes = 1s, .exit_code = 1});
  simulated_life life(world, R"(
[service]
max_running = 1
[defaults]
retry = { max = 2, backoff = "fixed", delay = "1s", jitter = 0 }
[job.a]
every = "1h"
run = ["fails"]
[job.b]
every = "1h"
run = ["fails"]
)",
                      once());
  life.run();
  EXPECT_EQ(world.now(), 10s);
  EXPECT_EQ(life.service->totals().total().runs, 2U);
  EXPECT_EQ(life.service->totals().total().retries, 4U);
}

TEST(service, once_without_anything_to_run_ends_at_once) {
  sim::world world(1);
  simulated_life life(world, "[job.a]\nrun = [\"x\"]\n", once());
  life.run();
  EXPECT_TRUE(life.ended);
  EXPECT_EQ(world.now(), 0s);
}

TEST(service, a_signal_gives_running_jobs_their_grace_and_starts_nothing_more) {
  for (const int number : {SIGINT, SIGTERM}) {
    sim::world world(1);
    world.program("work", {.takes = 3s});
    simulated_life life(world, "[job.a]\nevery = \"1s\"\nfrom = \"grid\"\noverlap = \"queue_one\"\nrun = [\"work\"]\n");
    world.raise(1500ms, number);
    life.run();
    EXPECT_EQ(world.now(), 3s);
    EXPECT_EQ(life.service->report().message, "");
    const auto totals = life.service->totals().total();
    EXPECT_EQ(totals.runs, 1U);
    EXPECT_EQ(totals.failures(), 0U);
    EXPECT_EQ(life.lines.count({number == SIGINT ? "stopping: SIGINT; 1 run may go on for 30s"
                                                 : "stopping: SIGTERM; 1 run may go on for 30s"}),
              1)
        << life.lines.all();
  }
}

TEST(service, after_the_grace_it_asks_and_after_three_seconds_it_kills) {
  sim::world world(1);
  world.program("stubborn", {.takes = sim::for_ever, .on_signal = sim::reaction::ignores});
  world.program("polite", {.takes = sim::for_ever});
  simulated_life life(world, R"(
[service]
shutdown_grace = "2s"
[job.a]
every = "1s"
kill_after = "10s"
run = ["stubborn"]
[job.b]
every = "1s"
run = ["polite"]
)");
  world.raise(1s, SIGTERM);
  life.run();
  EXPECT_EQ(world.now(), 6s);
  EXPECT_TRUE(world.alive().empty());
  EXPECT_EQ(life.service->report().message, "");
  for (const char* job : {"a", "b"}) {
    const auto runs = runs_of(life, job);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].result, run_result::killed);
    EXPECT_EQ(runs[0].why, cause::shutdown);
  }
}

TEST(service, a_second_signal_ends_the_grace) {
  sim::world world(1);
  world.program("polite", {.takes = sim::for_ever});
  simulated_life life(world, "[job.a]\nevery = \"1s\"\nrun = [\"polite\"]\n");
  world.raise(1s, SIGINT);
  world.raise(2s, SIGINT);
  world.raise(2s, SIGINT);
  life.run();
  EXPECT_EQ(world.now(), 2s);
  EXPECT_EQ(life.lines.count({"SIGINT: running jobs are stopped now"}), 1) << life.lines.all();
}

TEST(service, a_run_that_waits_for_its_retry_is_not_among_those_that_may_go_on) {
  sim::world world(1);
  world.program("fails", {.takes = 100ms, .exit_code = 1});
  simulated_life life(
      world,
      "[job.a]\nevery = \"1h\"\nrun = [\"fails\"]\nretry = { max = 3, delay = \"20s\", max_delay = \"20s\", jitter = 0 }\n");
  world.raise(1s, SIGTERM);
  life.run();
  EXPECT_EQ(world.now(), 1s);
  EXPECT_EQ(life.lines.count({"stopping: SIGTERM"}), 1) << life.lines.all();
  EXPECT_EQ(life.lines.count({"may go on"}), 0) << life.lines.all();
  EXPECT_EQ(runs_of(life, "a").at(0).result, run_result::killed);
}

TEST(service, once_gives_running_jobs_their_grace_after_a_signal) {
  sim::world world(1);
  world.program("quick", {.takes = 2s});
  world.program("slow", {.takes = 4s});
  simulated_life life(world, "[job.a]\nevery = \"1h\"\nrun = [\"quick\"]\n[job.b]\nevery = \"1h\"\nrun = [\"slow\"]\n", once());
  world.raise(1s, SIGTERM);
  life.run();
  EXPECT_EQ(life.lines.count({"running jobs are stopped now"}), 0) << life.lines.all();
}

TEST(service, says_of_all_jobs_that_are_due_that_they_are) {
  sim::world world(1);
  world.program("work", {.takes = 10s});
  std::string text = "[service]\nmax_running = 2\n";
  for (const char* const name : {"a", "b", "c"}) text += std::string("[job.") + name + "]\nevery = \"1h\"\nrun = [\"work\"]\n";
  for (const char* const name : {"d", "e", "f"})
    text += std::string("[job.") + name + "]\nevery = \"1h\"\nfrom = \"grid\"\nrun = [\"work\"]\n";
  simulated_life life(world, text, lasting(1s));
  life.run();
  EXPECT_NE(life.lines.lines.at(0).find("due now: 6 jobs, next due d at 2025-01-01 01:00:00.000"), std::string::npos)
      << life.lines.all();
}

TEST(service, says_each_thing_once) {
  sim::world world(1);
  world.program("work", {.takes = 1500ms});
  world.stall(3200ms, 6500ms);
  simulated_life life(world, "[job.a]\nevery = \"1s\"\nfrom = \"grid\"\noverlap = \"queue_one\"\nrun = [\"work\"]\n",
                      lasting(10s));
  life.run();
  EXPECT_GE(life.lines.count({"coalesced: "}), 1) << life.lines.all();
  EXPECT_EQ(life.lines.count({"coalesced: coalesced"}), 0) << life.lines.all();
  EXPECT_GE(life.lines.count({"waits: overlap: an earlier run"}), 1) << life.lines.all();
}

TEST(service, a_signal_during_once_leaves_the_grace_to_the_runs_that_go_on) {
  sim::world world(1);
  world.program("work", {.takes = 3s});
  simulated_life life(world, "[job.a]\nevery = \"1h\"\nrun = [\"work\"]\n[job.b]\nevery = \"1h\"\nrun = [\"work\"]\n", once());
  world.raise(1s, SIGTERM);
  life.run();
  EXPECT_EQ(world.now(), 3s);
  EXPECT_EQ(life.lines.count({"stopping: SIGTERM; 2 runs may go on for 30s, a second signal ends that"}), 1)
      << life.lines.all();
  EXPECT_EQ(life.lines.count({"all jobs have run once"}), 0) << life.lines.all();
  EXPECT_EQ(life.lines.count({"running jobs are stopped now"}), 0) << life.lines.all();
}

TEST(service, after_the_time_given_the_first_signal_ends_the_grace_and_the_log_says_so) {
  sim::world world(1);
  world.program("polite", {.takes = sim::for_ever});
  simulated_life life(world, "[job.a]\nevery = \"1s\"\nrun = [\"polite\"]\n", lasting(1s));
  world.raise(2s, SIGINT);
  life.run();
  EXPECT_EQ(world.now(), 2s);
  EXPECT_EQ(life.lines.count({"--for is over; 1 run may go on for 30s, a signal ends that"}), 1) << life.lines.all();
}

// Lives five minutes over a history with a record of hours to come.
int runs_behind_the_history(bool trust, std::string& said) {
  sim::world world(1);
  world.program("work", sim::program{});
  run_options how = lasting(5min);
  how.trust_clock = trust;
  simulated_life life(world, "[job.a]\ncron = \"* * * * *\"\nrun = [\"work\"]\n", how);
  ledger::batch past;
  ledger::job_record record;
  record.name = "a";
  record.trigger = "cron * * * * * in UTC";
  record.judged_from = record.watermark = record.wall_high = world.wall_now() + 4h;  // beyond what a clock is set back by
  past.jobs.push_back(std::move(record));
  life.history->submit(std::move(past), [](ledger::commit_error error) { EXPECT_FALSE(error.failed); });
  life.home.run();
  life.run();
  said = life.lines.all();
  return static_cast<int>(life.service->totals().total().runs);
}

TEST(service, an_implausible_clock_stops_cron_jobs_until_the_operator_says_that_it_is_right) {
  std::string said;
  EXPECT_EQ(runs_behind_the_history(false, said), 0);
  EXPECT_NE(said.find("; if it is right, start with --trust-clock\n"), std::string::npos) << said;
  EXPECT_GE(runs_behind_the_history(true, said), 4);
  EXPECT_EQ(said.find("start with --trust-clock"), std::string::npos) << said;
}

TEST(service, a_hang_up_is_answered_and_changes_nothing) {
  sim::world world(1);
  world.program("work", sim::program{});
  simulated_life life(world, "[job.a]\nevery = \"1s\"\nrun = [\"work\"]\n", lasting(5s));
  world.raise(1s, SIGHUP);
  life.run();
  EXPECT_EQ(world.now(), 5s);
  EXPECT_EQ(life.lines.count({"SIGHUP: reading the configuration again is not in this version yet; restart"}), 1);
}

TEST(service, logs_each_step_as_json_too) {
  sim::world world(1);
  world.program("flaky", {.takes = 1s, .exit_code = 3, .output = {{0s, "first\nno luck\n"}}});
  simulated_life life(world, "[job.a]\nevery = \"1h\"\nrun = [\"flaky\"]\nretry = { max = 1, jitter = 0 }\n", lasting(10s),
                      log_form::json);
  life.run();
  EXPECT_EQ(life.lines.count({"\"event\":\"started\""}), 1);
  EXPECT_EQ(life.lines.count({"\"ts\":\"2025-01-01T00:00:00.000Z\"", "\"event\":\"attempt_started\"", "\"job\":\"a\"",
                              "\"run_id\":", "\"attempt\":1"}),
            1)
      << life.lines.all();
  EXPECT_EQ(life.lines.count({"\"event\":\"attempt_ended\"", "\"exit_code\":3", "\"result\":\"failed\"", "\"duration\":1.0"}),
            2)
      << life.lines.all();
  EXPECT_EQ(life.lines.count({"\"event\":\"retry_planned\"", "\"delay\":1.0"}), 1) << life.lines.all();
  EXPECT_EQ(life.lines.count({"\"event\":\"run_ended\"", "\"outcome\":\"ran\"", "\"result\":\"failed\"", "\"attempts\":2"}), 1)
      << life.lines.all();
  EXPECT_EQ(life.lines.count({"\"event\":\"stopped\""}), 1);
}

TEST(service, the_text_log_says_how_runs_went) {
  sim::world world(1);
  world.program("flaky", {.takes = 1s, .exit_code = 3, .output = {{0s, "first\nno luck\n"}}});
  simulated_life life(
      world,
      "[service]\ntimezone = \"Asia/Shanghai\"\n[job.a]\nevery = \"1h\"\nrun = [\"flaky\"]\nretry = { max = 1, jitter = 0 }\n",
      lasting(10s));
  life.run();
  EXPECT_EQ(life.lines.count({"2025-01-01 08:00:00.000  a                 started"}), 1) << life.lines.all();
  EXPECT_EQ(life.lines.count({"2025-01-01 08:00:01.000  a                 attempt 1 failed: exit code 3; next in 1.00s"}), 1)
      << life.lines.all();
  EXPECT_EQ(life.lines.count({"2025-01-01 08:00:02.000  a                 attempt 2 started"}), 1) << life.lines.all();
  EXPECT_EQ(life.lines.count(
                {"2025-01-01 08:00:03.000  a                 failed in 3.00s, 2 attempts: exit code 3; it said \"no luck\""}),
            1)
      << life.lines.all();
}

TEST(service, the_text_log_calls_a_timeout_by_its_name) {
  sim::world world(1);
  world.program("slow", {.takes = sim::for_ever});
  simulated_life life(world, "[job.a]\nevery = \"1h\"\nrun = [\"slow\"]\ntimeout = \"2s\"\nretry = { max = 1, jitter = 0 }\n",
                      lasting(10s));
  life.run();
  EXPECT_EQ(life.lines.count({"attempt 1 timed out: killed by SIGTERM; next in 1.00s"}), 1) << life.lines.all();
}

TEST(service, the_text_log_shows_what_a_terminal_would_obey) {
  sim::world world(1);
  simulated_life life(world, "[job.a]\nevery = \"1h\"\nrun = [\"no/\\u001B[31mred\"]\n", lasting(1s));
  life.run();
  EXPECT_EQ(life.lines.count({"\x1b"}), 0) << life.lines.all();
  EXPECT_EQ(life.lines.count({"no/\\u001B[31mred"}), 1) << life.lines.all();
}

TEST(service, the_words_of_a_failed_attempt_are_not_those_of_a_run_that_went_well) {
  sim::world world(1);
  int attempt = 0;
  world.program("flaky", [&attempt](const process_spec&) {
    return sim::program{.takes = 1s, .exit_code = ++attempt == 1 ? 1 : 0, .output = {{0s, "no luck\n"}}};
  });
  simulated_life life(world, "[job.a]\nevery = \"1h\"\nrun = [\"flaky\"]\nretry = { max = 1, jitter = 0 }\n", lasting(10s));
  life.run();
  EXPECT_EQ(life.lines.count({"success in 3.00s, 2 attempts"}), 1) << life.lines.all();
  EXPECT_EQ(life.lines.count({"success", "it said"}), 0) << life.lines.all();
}

}  // namespace
}  // namespace looptask::service
