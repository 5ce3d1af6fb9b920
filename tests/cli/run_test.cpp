// The service as a user meets it: real processes, signals, files.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"
#include "kill9/service_process.hpp"
#include "process/scratch.hpp"

namespace looptask::cli {
namespace {

using json = nlohmann::json;

// A folder with a configuration, and calls of the program in it.
class bench {
 public:
  explicit bench(const std::string& configuration) { folder.write("jobs.toml", configuration); }

  program_call call(std::vector<std::string> more) const {
    program_call c;
    c.arguments = std::move(more);
    c.arguments.insert(c.arguments.end(), {"--config", "jobs.toml", "--data-dir", "data"});
    c.workdir = folder.path();
    return c;
  }
  program_result run(std::vector<std::string> more) const { return run_program(call(std::move(more))); }
  json runs() const { return json::parse(run({"runs", "--json", "--all"}).out)["runs"]; }

  scratch folder;
};

std::vector<json> events(const std::string& log, const std::string& name) {
  std::vector<json> found;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line);
    if (event["event"] == name) found.push_back(event);
  }
  return found;
}

TEST(run, a_command_runs_and_is_recorded) {
  const bench b("[job.hello]\nevery = \"1h\"\nshell = \"echo $LOOPTASK_JOB $LOOPTASK_ATTEMPT $LOOPTASK_RUN_ID; pwd\"\n");
  const auto r = b.run({"run", "--once"});
  EXPECT_EQ(r.code, 0) << r.err;
  const auto started = events(r.err, "attempt_started");
  ASSERT_EQ(started.size(), 1U) << r.err;
  EXPECT_EQ(started[0]["job"], "hello");
  const auto ended = events(r.err, "run_ended");
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0]["result"], "success");
  EXPECT_EQ(ended[0]["run_id"], started[0]["run_id"]);
  const auto runs = b.runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0]["run_id"], started[0]["run_id"]);
  EXPECT_EQ(runs[0]["job"], "hello");
  EXPECT_EQ(runs[0]["kind"], "manual");
  EXPECT_EQ(runs[0]["result"], "success");
  EXPECT_EQ(runs[0]["attempts"][0]["exit_code"], 0);
}

TEST(run, a_value_that_would_never_come_fails_its_own_job_alone) {
  const bench b(
      "[job.stuck]\nevery = \"1h\"\nrun = [\"true\"]\nenv = { TOKEN = \"${file:pipe}\", ZERO = \"${file:/dev/zero}\" }\n"
      "[job.well]\nevery = \"1h\"\nrun = [\"true\"]\n");
  ASSERT_EQ(::mkfifo(b.folder.path("pipe").c_str(), 0600), 0);
  const auto r = b.run({"run", "--once"});
  EXPECT_EQ(r.code, 0) << r.err;
  std::map<std::string, json> ended;
  for (const json& e : events(r.err, "run_ended")) ended[e["job"]] = e;
  EXPECT_EQ(ended["stuck"]["result"], "start_failed");
  EXPECT_NE(ended["stuck"]["error"].get<std::string>().find("env.TOKEN: ${file:pipe}: "), std::string::npos) << ended["stuck"];
  EXPECT_NE(ended["stuck"]["error"].get<std::string>().find("is not a regular file"), std::string::npos) << ended["stuck"];
  EXPECT_EQ(ended["well"]["result"], "success");
}

TEST(run, ends_well_whatever_the_jobs_did_and_sums_up) {
  const bench b(
      "[job.bad]\nevery = \"1h\"\nrun = [\"false\"]\nretry = { max = 1, delay = \"1ms\" }\n[job.none]\nevery = \"1h\"\nrun = "
      "[\"no-such-program\"]\n");
  const auto r = b.run({"run", "--once", "--json"});
  EXPECT_EQ(r.code, 0) << r.err;
  const auto total = json::parse(r.out)["total"];
  EXPECT_EQ(total["runs"], 2);
  EXPECT_EQ(total["failures"], 2);
  EXPECT_EQ(total["results"], (json{{"failed", 1}, {"start_failed", 1}}));
  EXPECT_EQ(total["retries"], 1);
  EXPECT_EQ(b.runs().size(), 2U);
  const auto text = b.run({"run", "--once"});
  EXPECT_NE(text.out.find("bad"), std::string::npos) << text.out;
}

TEST(run, for_a_time_runs_schedules_and_stops) {
  const bench b("[job.tick]\nevery = \"100ms\"\nfrom = \"grid\"\nrun = [\"true\"]\n");
  const auto limited = b.run({"run", "--for", "1ms"});
  EXPECT_EQ(limited.code, 0) << limited.err;
  EXPECT_EQ(events(limited.err, "stopped").size(), 1U);
  running_program service(b.call({"run"}));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(service.wait_for_next("\"run_ended\""));
  service.signal(SIGTERM);
  const auto r = service.finish();
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_GE(events(r.err, "run_ended").size(), 2U);
  EXPECT_EQ(events(r.err, "stopped").size(), 1U);
}

TEST(run, a_mistake_starts_nothing) {
  const bench b("[job.a]\nevery = \"1s\"\nrun = [\"touch\", \"started\"]\ntimout = \"1s\"\n");
  const auto r = b.run({"run"});
  EXPECT_EQ(r.code, 78);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err, "jobs.toml:4:1: job.a.timout: unknown key; did you mean timeout?\n");
  EXPECT_FALSE(std::filesystem::exists(b.folder.path("started")));
  EXPECT_FALSE(std::filesystem::exists(b.folder.path("data")));
}

TEST(run, wrong_use_is_2) {
  const bench b("");
  const auto r = b.run({"run", "--for", "5"});
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(
      r.err,
      "looptask run: --for: \"5\" is no duration: a number needs a unit; write for example \"90s\", \"1h30m\" or \"250ms\"\n");
}

TEST(run, a_data_directory_that_cannot_be_made_is_125) {
  const bench b("[job.a]\nrun = [\"true\"]\n");
  program_call call;
  call.arguments = {"run", "jobs.toml", "--data-dir", "/proc/none"};
  call.workdir = b.folder.path();
  const auto r = run_program(call);
  EXPECT_EQ(r.code, 125);
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_EQ(r.err,
            "looptask run: the data directory /proc/none cannot be created: No such file or directory; choose another with "
            "--data-dir\n");
}

TEST(run, a_second_service_on_the_same_data_is_refused) {
  const bench b("[job.a]\nevery = \"1s\"\nrun = [\"true\"]\n");
  running_program first(b.call({"run"}));
  ASSERT_TRUE(first.wait_for("\"started\""));
  const auto second = b.run({"run"});
  EXPECT_EQ(second.code, 5);
  EXPECT_EQ(second.err, "looptask run: another looptask runs on " + b.folder.path("data") +
                            "; stop it, or give this one its own with --data-dir\n");
  EXPECT_EQ(second.out, "");
  first.signal(SIGTERM);
  EXPECT_EQ(first.finish().code, 0);
}

TEST(run, after_a_signal_nothing_starts_and_running_jobs_get_their_grace) {
  for (const int number : {SIGINT, SIGTERM}) {
    const bench b(
        "[job.slow]\nevery = \"1h\"\nshell = \"echo begun; sleep 0.5; echo done\"\n[job.tick]\nevery = \"10ms\"\nrun = "
        "[\"true\"]\n");
    running_program service(b.call({"run"}));
    ASSERT_TRUE(service.wait_for("\"job\":\"slow\""));
    service.signal(number);
    const auto r = service.finish();
    EXPECT_EQ(r.code, 0) << r.err;
    const auto stopping = r.err.find("\"event\":\"stopping\"");
    ASSERT_NE(stopping, std::string::npos) << r.err;
    EXPECT_EQ(r.err.find("\"event\":\"attempt_started\"", stopping), std::string::npos) << r.err;
    for (const auto& ended : events(r.err, "run_ended")) {
      EXPECT_EQ(ended["result"], "success") << ended;
    }
  }
}

TEST(run, a_second_signal_ends_what_ignores_the_first_and_leaves_nothing_alive) {
  const bench b(
      "[job.stubborn]\nevery = \"1h\"\nkill_after = \"100ms\"\nshell = \"trap \\\"\\\" TERM; sleep 1000 & sleep 1000; sleep "
      "1000\"\n");
  running_program service(b.call({"run"}));
  ASSERT_TRUE(service.wait_for("\"attempt_started\""));
  service.signal(SIGINT);
  ASSERT_TRUE(service.wait_for("\"stopping\""));
  service.signal(SIGINT);
  const auto r = service.finish();
  EXPECT_EQ(r.code, 0) << r.err;
  const auto ended = events(r.err, "run_ended");
  ASSERT_EQ(ended.size(), 1U) << r.err;
  EXPECT_EQ(ended[0]["result"], "killed");
  EXPECT_EQ(ended[0]["cause"], "shutdown");
  EXPECT_TRUE(tests::processes_with("LOOPTASK_RUN_ID=" + ended[0]["run_id"].get<std::string>()).empty());
}

TEST(run, a_timeout_kills_children_too) {
  const bench b(
      "[job.hang]\nevery = \"1h\"\ntimeout = \"200ms\"\nkill_after = \"100ms\"\nshell = \"trap \\\"\\\" TERM; sleep 1000 & "
      "sleep 1000; sleep 1000\"\n");
  const auto r = b.run({"run", "--once"});
  EXPECT_EQ(r.code, 0) << r.err;
  const auto ended = events(r.err, "run_ended");
  ASSERT_EQ(ended.size(), 1U) << r.err;
  EXPECT_EQ(ended[0]["result"], "timeout");
  EXPECT_TRUE(tests::processes_with("LOOPTASK_RUN_ID=" + ended[0]["run_id"].get<std::string>()).empty());
}

TEST(run, a_command_gets_an_environment_made_from_scratch) {
  const bench b(R"(
[job.env]
every = "1h"
run = ["sh", "-c", "env | sort > env.txt; pwd > pwd.txt"]
env = { MINE = "${job}-${attempt}-${env:SECRET}" }
env_inherit = ["KEEP_*"]
)");
  auto call = b.call({"run", "--once"});
  call.env = {{"SECRET", "s"}, {"KEEP_A", "a"}, {"TZ", "Asia/Tokyo"}, {"OTHER", "o"}, {"HOME", "/h"}};
  const auto r = run_program(call);
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string env = b.folder.read("env.txt");
  EXPECT_NE(env.find("MINE=env-1-s\n"), std::string::npos) << env;
  EXPECT_NE(env.find("KEEP_A=a\n"), std::string::npos) << env;
  EXPECT_NE(env.find("HOME=/h\n"), std::string::npos) << env;
  EXPECT_NE(env.find("LOOPTASK_JOB=env\n"), std::string::npos) << env;
  EXPECT_EQ(env.find("TZ="), std::string::npos) << env;
  EXPECT_EQ(env.find("OTHER="), std::string::npos) << env;
  EXPECT_EQ(b.folder.read("pwd.txt"), b.folder.path() + "\n");
}

TEST(run, a_log_that_nobody_reads_holds_nothing_up) {
  const bench b("[job.tick]\nevery = \"1ms\"\nfrom = \"grid\"\nrun = [\"true\"]\n");
  running_program service(b.call({"run", "--for", "1s"}));
  // The pipe's end is closed, as by `2>&1 | head -1`.
  service.close_err();
  EXPECT_EQ(service.finish().code, 0);
  EXPECT_FALSE(b.runs().empty());
}

// A job that tells through a FIFO that it runs: nothing else gets out of a service whose pipes are full.
class bench_with_full_pipes : public bench {
 public:
  bench_with_full_pipes() : bench("[job.mark]\nevery = \"1h\"\nshell = \"echo up > fifo\"\n") {
    EXPECT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  }
  void wait_until_up() const {
    std::string line;
    std::ifstream fifo(folder.path("fifo"));
    EXPECT_TRUE(std::getline(fifo, line));
  }
};

TEST(run, ends_although_the_reader_of_its_log_stalls) {
  const bench_with_full_pipes b;
  auto call = b.call({"run"});
  call.full_err = true;
  running_program service(call);
  b.wait_until_up();
  service.signal(SIGTERM);
  ASSERT_TRUE(service.ends_within(std::chrono::seconds(20)));
  const auto r = service.finish();
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("\nmark "), std::string::npos) << r.out;
}

TEST(run, a_time_limit_ends_it_although_the_reader_of_its_log_stalls) {
  const bench b("[job.a]\nevery = \"1h\"\nrun = [\"true\"]\n");
  auto call = b.call({"run", "--for", "10ms"});
  call.full_err = true;
  running_program service(call);
  EXPECT_TRUE(service.ends_within(std::chrono::seconds(20)));
}

TEST(run, a_signal_ends_it_while_nobody_takes_the_summary) {
  const bench_with_full_pipes b;
  auto call = b.call({"run"});
  call.full_out = true;
  running_program service(call);
  b.wait_until_up();
  bool ended = false;
  for (int signals = 0; signals < 100 && !ended; ++signals) {
    service.signal(SIGTERM);  // the first ends the service; those after its end the process
    ended = service.ends_within(std::chrono::milliseconds(200));
  }
  ASSERT_TRUE(ended);
  EXPECT_EQ(service.finish().code, 128 + SIGTERM);
}

TEST(run, a_history_that_may_not_grow_starts_nothing_until_it_may) {
  const bench b("[job.tick]\nevery = \"1ms\"\nfrom = \"grid\"\nrun = [\"true\"]\n");
  running_program service(b.call({"run"}));
  ASSERT_TRUE(service.wait_for("\"run_ended\""));
  rlimit limit{};
  ASSERT_EQ(::prlimit(service.pid(), RLIMIT_FSIZE, nullptr, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::prlimit(service.pid(), RLIMIT_FSIZE, &none, nullptr), 0);
  EXPECT_TRUE(service.wait_for("\"ledger_trouble\""));
  ASSERT_EQ(::prlimit(service.pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  EXPECT_TRUE(service.wait_for("\"ledger_healed\""));
  service.signal(SIGTERM);
  EXPECT_EQ(service.finish().code, 0);
}

TEST(run, jobs_that_left_the_file_are_forgotten_and_their_runs_kept) {
  const bench b("[job.old]\nevery = \"1h\"\nrun = [\"true\"]\n");
  EXPECT_EQ(b.run({"run", "--for", "200ms"}).code, 0);
  b.folder.write("jobs.toml", "[job.new]\nevery = \"1h\"\nrun = [\"true\"]\n");
  const auto r = b.run({"run", "--for", "200ms"});
  EXPECT_EQ(r.code, 0);
  const auto removed = events(r.err, "job_removed");
  ASSERT_EQ(removed.size(), 1U) << r.err;
  EXPECT_EQ(removed[0]["job"], "old");
  bool kept = false;
  for (const auto& run : b.runs()) kept = kept || run["job"] == "old";
  EXPECT_TRUE(kept);
}

}  // namespace
}  // namespace looptask::cli
