// `looptask runs` over a history that a store wrote.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/memory_console.hpp"
#include "ledger/sqlite_store.hpp"

namespace looptask::cli {
namespace {

using namespace std::chrono_literals;

instant at(std::int64_t second) { return instant(std::chrono::seconds(second)); }

ledger::run_record run_of(const std::string& job, std::int64_t nominal) {
  ledger::run_record r;
  r.key = {.job = job, .nominal = at(nominal)};
  r.run_id = job + "-" + std::to_string(nominal);
  r.due = r.key.nominal;
  r.started = r.key.nominal;
  r.ended = r.key.nominal + 2s;
  r.lateness = 0us;
  r.result = run_result::success;
  return r;
}

class runs_verb : public testing::Test {
 protected:
  runs_verb() : directory(std::filesystem::temp_directory_path() / "looptask-test-XXXXXX") {
    EXPECT_NE(mkdtemp(directory.data()), nullptr);
  }
  ~runs_verb() override { std::filesystem::remove_all(directory); }

  // `silent_for`: how long ago the service gave its last sign of life.
  void write(ledger::batch what, std::optional<microseconds> silent_for = std::nullopt) {
    real_host machine;
    loop home(machine);
    const auto store = ledger::open_sqlite_store(directory, ledger::durability::process, home);
    if (silent_for) {
      if (!what.clock) what.clock = ledger::timeline{machine.clock().boot_id(), 1000s};
      store->alive(instant(std::chrono::floor<microseconds>(machine.clock().boot())) + 1000s - *silent_for);
    }
    store->submit(std::move(what), [](ledger::commit_error error) { EXPECT_FALSE(error.failed) << error.message; });
    home.run();
  }

  int ask(std::vector<std::string> arguments) {
    memory_console io;
    arguments.insert(arguments.begin(), "runs");
    arguments.insert(arguments.end(), {"--data-dir", directory});
    const int code =
        run_command_line(std::move(arguments), io, process_environment(), [] { return std::make_unique<real_host>(); });
    out = io.said;
    err = io.complained;
    return code;
  }

  std::size_t count(const std::string& part) const {
    std::size_t n = 0;
    for (auto p = out.find(part); p != std::string::npos; p = out.find(part, p + 1)) ++n;
    return n;
  }

  std::string directory, out, err;
};

TEST_F(runs_verb, without_a_history_says_so_and_ends_with_3) {
  EXPECT_EQ(ask({}), exit_code::not_running);
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "looptask runs: " + directory +
                     "/history.db: there is no history yet; `looptask run` begins one (is it the right data directory?)\n");
}

TEST_F(runs_verb, shows_a_table_newest_first) {
  ledger::batch b;
  b.runs = {run_of("a", 60), run_of("b", 120)};
  write(std::move(b));
  EXPECT_EQ(ask({}), exit_code::ok);
  EXPECT_EQ(out,
            "JOB  NOMINAL (UTC)         LATE   TOOK  RESULT   ATTEMPTS  WHY\n"
            "b    1970-01-01T00:02:00Z   0us  2.00s  success         -\n"
            "a    1970-01-01T00:01:00Z   0us  2.00s  success         -\n");
  EXPECT_EQ(err, "");
}

TEST_F(runs_verb, shows_twenty_rows_unless_told_otherwise_and_says_that_there_are_more) {
  ledger::batch b;
  for (int i = 0; i < 30; ++i) b.runs.push_back(run_of("a", i));
  write(std::move(b));
  EXPECT_EQ(ask({}), exit_code::ok);
  EXPECT_EQ(count("success"), 20U);
  EXPECT_EQ(err, "these are the newest 20; -n 0 shows all\n");
  EXPECT_EQ(ask({"-n", "30"}), exit_code::ok);
  EXPECT_EQ(count("success"), 30U);
  EXPECT_EQ(err, "");
  EXPECT_EQ(ask({"-n", "0"}), exit_code::ok);
  EXPECT_EQ(count("success"), 30U);
  EXPECT_EQ(ask({"--json"}), exit_code::ok);
  EXPECT_EQ(count("\"run_id\""), 30U);
  EXPECT_EQ(ask({"--json", "--limit", "7"}), exit_code::ok);
  EXPECT_EQ(count("\"run_id\""), 7U);
}

TEST_F(runs_verb, chooses_by_job_time_and_outcome) {
  ledger::run_record skipped = run_of("a", 130);
  skipped.outcome = slot_outcome::skipped;
  skipped.why = cause::overlap;
  ledger::batch b;
  b.runs = {run_of("a", 60), run_of("a", 120), run_of("b", 120), skipped};
  write(std::move(b));
  EXPECT_EQ(ask({"a", "--json"}), exit_code::ok);
  EXPECT_EQ(count("\"job\":\"a\""), 2U);
  EXPECT_EQ(count("\"job\":\"b\""), 0U);
  EXPECT_EQ(ask({"a", "--json", "--all", "--since", "1970-01-01T00:02:00Z"}), exit_code::ok);
  EXPECT_EQ(count("\"job\":\"a\""), 2U);
  EXPECT_EQ(count("\"cause\":\"overlap\""), 1U);
  EXPECT_EQ(out.rfind("{\"schema_version\":1,\"runs\":[{\"run_id\":\"a-130\"", 0), 0U) << out;
  EXPECT_EQ(out.substr(out.size() - 4), "}]}\n");
}

TEST_F(runs_verb, knows_a_job_that_has_not_run_yet_and_no_other) {
  ledger::batch b;
  ledger::job_record job;
  job.name = "report";
  b.jobs = {job};
  write(std::move(b));
  EXPECT_EQ(ask({"report"}), exit_code::ok);
  EXPECT_EQ(err, "no runs yet that match\n");
  EXPECT_EQ(ask({"report", "--json"}), exit_code::ok);
  EXPECT_EQ(out, "{\"schema_version\":1,\"runs\":[]}\n");
  EXPECT_EQ(ask({"reprot"}), exit_code::not_found);
  EXPECT_EQ(err, "looptask runs: no job \"reprot\" in this history; did you mean \"report\"?\n");
}

TEST_F(runs_verb, says_that_a_service_with_unfinished_runs_is_silent) {
  ledger::run_record open = run_of("a", 60);
  open.phase = ledger::record_phase::open;
  open.ended.reset();
  open.result.reset();
  ledger::batch b;
  b.runs = {open};
  write(b, 1h);
  const std::string words =
      ": if it is not running, what is shown as running or waiting is not, and is judged when it starts again\n";
  EXPECT_EQ(ask({}), exit_code::ok);
  EXPECT_NE(out.find("running"), std::string::npos) << out;
  EXPECT_EQ(err, "the service has given no sign of life for 1h00m" + words);
  EXPECT_EQ(ask({"--json"}), exit_code::ok);
  EXPECT_EQ(err, "the service has given no sign of life for 1h00m" + words);
  write(b, 0s);
  EXPECT_EQ(ask({}), exit_code::ok);
  EXPECT_EQ(err, "");
  b.clock = ledger::timeline{"another boot", 1000s};
  write(b, 0s);
  EXPECT_EQ(ask({}), exit_code::ok);
  EXPECT_EQ(err, "the service has given no sign of life since the machine has booted" + words);
}

TEST_F(runs_verb, says_what_is_wrong_with_a_time) {
  EXPECT_EQ(ask({"--since", "yesterday"}), exit_code::usage);
  EXPECT_EQ(err,
            "looptask runs: --since: \"yesterday\" is no instant; right would be now, -1h, +2d, 2026-03-29, "
            "2026-03-29T01:00:00 or 2026-03-29T01:00:00Z\n");
}

TEST_F(runs_verb, takes_the_times_that_next_takes) {
  ledger::batch b;
  b.runs = {run_of("a", 60), run_of("a", 90'000)};
  write(std::move(b));
  for (const char* since : {"1970-01-02", "1970-01-02T00:00:00", "1970-01-02T00:00:00Z", "1970-01-02 01:00:00+01:00"}) {
    EXPECT_EQ(ask({"--json", "--since", since}), exit_code::ok) << err;
    EXPECT_EQ(count("\"run_id\""), 1U) << since;
  }
}

TEST_F(runs_verb, says_what_to_do_with_something_that_is_no_history) {
  std::ofstream(directory + "/history.db") << std::string(8192, 'x');
  EXPECT_EQ(ask({}), exit_code::internal);
  EXPECT_EQ(err, "looptask runs: " + directory +
                     "/history.db is not a LoopTask history; choose another data directory with --data-dir, or move it away\n");
}

TEST_F(runs_verb, tells_a_file_from_a_job) {
  write({});
  const std::string file = directory + "/jobs.toml";
  std::ofstream(file) << "\n";
  EXPECT_EQ(ask({file}), exit_code::not_found);
  EXPECT_EQ(err,
            "looptask runs: \"" + file + "\" is a file and no job; name a configuration with -c, a history with --data-dir\n");
}

}  // namespace
}  // namespace looptask::cli
