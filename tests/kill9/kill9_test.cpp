// kill -9 of a real service, again and again over one history, while runs are going; then the history, the side log that the
// jobs kept themselves, and the system must agree.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "kill9/history_check.hpp"
#include "kill9/service_process.hpp"
#include "kill9/side_log.hpp"
#include "ledger/sqlite_store.hpp"
#include "source_tree.hpp"

namespace looptask::tests {
namespace {

using namespace std::chrono_literals;

constexpr int kills = 55;
constexpr auto bound = 30s;  // for one event; far above what any takes

const std::map<std::string, judged_job> jobs{
    {"stubborn-a", {judged_job::slots::from_end, 50ms}},
    {"stubborn-b", {judged_job::slots::from_end, 50ms}},
    {"stubborn-c", {judged_job::slots::from_start, 50ms}},
    {"grid", {judged_job::slots::grid, 200ms}},
    {"queued", {judged_job::slots::grid, 300ms}},
    {"flaky", {judged_job::slots::grid, 500ms}},
    {"end", {judged_job::slots::from_end, 100ms}},
    {"start", {judged_job::slots::from_start, 250ms}},
    {"cron", {judged_job::slots::grid, 1s}},
};
const std::set<std::string> ending{"grid", "queued", "flaky", "end", "start", "cron"};

std::string configuration(const std::string& script, const std::string& side) {
  const auto job = [&](const char* name, const char* trigger, const char* words, const char* more = "") {
    return "[job." + std::string(name) + "]\n" + trigger + "\nrun = [\"/bin/sh\", \"" + script + "\", " + words + "]\n" + more +
           "\n";
  };
  return "config_version = 1\n[service]\ntimezone = \"UTC\"\nshutdown_grace = \"100ms\"\n[defaults]\ntimeout = \"1h\"\n"
         "kill_after = \"100ms\"\nenv = { SIDE = \"" +
         side + "\" }\n\n" + job("stubborn-a", "every = \"50ms\"", "\"stubborn\"") +
         job("stubborn-b", "every = \"50ms\"\nfrom = \"end\"", "\"stubborn\"") +
         job("stubborn-c", "every = \"50ms\"\nfrom = \"start\"", "\"stubborn\"") +
         job("grid", "every = \"200ms\"\nfrom = \"grid\"", "\"begin-to-end\", \"0.05\"") +
         job("queued", "every = \"300ms\"\nfrom = \"grid\"", "\"begin-to-end\", \"0.35\"", "overlap = \"queue_one\"\n") +
         job("flaky", "every = \"500ms\"\nfrom = \"grid\"", "\"flaky\", \"0.02\"",
             "retry = { max = 3, backoff = \"fixed\", delay = \"50ms\", jitter = 0.0 }\n") +
         job("end", "every = \"100ms\"\nfrom = \"end\"", "\"begin-to-end\", \"0.02\"") +
         job("start", "every = \"250ms\"\nfrom = \"start\"", "\"begin-to-end\", \"0.05\"") +
         job("cron", "cron = \"* * * * * *\"", "\"begin-to-end\", \"0.1\"");
}

std::string last_lines(const std::string& path) {
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.substr(text.size() > 4000 ? text.size() - 4000 : 0);
}

struct kill9 : testing::Test {
  std::filesystem::path home;
  std::string side, data, file, errors;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "looptask-kill9-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    home = name;
    side = name + "/side";
    data = name + "/data";
    file = name + "/looptask.toml";
    errors = name + "/stderr";
    std::filesystem::create_directory(side);
    std::ofstream(file) << configuration(source_dir() + "/tests/kill9/job.sh", side);
  }
  void TearDown() override {
    for (const pid_t survivor : processes_with("SIDE=" + side)) ::kill(survivor, SIGKILL);
    std::filesystem::remove_all(home);
  }
  service_process start() {
    return service_process({binary_dir() + "/looptask", "run", file, "--data-dir", data}, home.string() + "/stdout", errors);
  }
  // Runs of the life that began at line `from` of the side log which began and will not end by themselves. What an earlier life
  // had started may write its first line only now: `earlier` names those runs.
  static std::set<std::string> active(const std::vector<side_line>& lines, std::size_t from,
                                      const std::set<std::string>& earlier) {
    std::set<std::string> out;
    for (std::size_t i = from; i < lines.size(); ++i) {
      if (lines[i].word == "begin" && !earlier.contains(lines[i].run_id) && !ending.contains(lines[i].job)) {
        out.insert(lines[i].run_id);
      }
      if (lines[i].word == "end") out.erase(lines[i].run_id);
    }
    return out;
  }
  std::vector<ledger::run_record> records() {
    ledger::run_query all;
    all.ran_only = false;
    return ledger::open_sqlite_reader(data)->runs(all);
  }
};

TEST_F(kill9, over_one_history_loses_and_repeats_nothing) {
  std::mt19937 chance(20251130);
  side_log log(side + "/log");
  int while_runs_were_open = 0;
  std::set<std::string> earlier;
  for (int life = 0; life < kills; ++life) {
    const std::size_t begun_before = log.lines().size();
    service_process service = start();
    const std::size_t more = chance() % 15;
    std::size_t three_at = 0;
    const bool reached = log.wait_until(bound, [&](const std::vector<side_line>& lines) {
      if (three_at == 0 && active(lines, begun_before, earlier).size() >= 3) three_at = lines.size();
      return three_at != 0 && lines.size() >= three_at + more;
    });
    ASSERT_TRUE(reached) << "life " << life << " saw no three runs\n" << last_lines(errors);
    service.signal(SIGKILL);
    ASSERT_EQ(service.wait(bound), 128 + SIGKILL) << last_lines(errors);

    std::size_t open = 0;
    for (const auto& record : ledger::open_sqlite_reader(data)->load().unfinished) {
      open += record.phase == ledger::record_phase::open ? 1 : 0;
      earlier.insert(record.run_id);
    }
    if (open >= 3) ++while_runs_were_open;
    ASSERT_GE(processes_with("SIDE=" + side).size(), 3U) << "the jobs outlive the service, or this test shows nothing";
  }
  EXPECT_GE(while_runs_were_open, 50) << "kills between claims and their end records";

  // A last life that runs until every job that can end has ended once more, and stops cleanly.
  log.read_more();
  const std::size_t begun_before = log.lines().size();
  service_process service = start();
  const bool ended = log.wait_until(bound, [&](const std::vector<side_line>& lines) {
    std::set<std::string> done;
    for (std::size_t i = begun_before; i < lines.size(); ++i) {
      if (lines[i].word == "end") done.insert(lines[i].job);
    }
    return done == ending;
  });
  ASSERT_TRUE(ended) << last_lines(errors);
  service.signal(SIGTERM);
  ASSERT_EQ(service.wait(bound), 0) << last_lines(errors);

  EXPECT_EQ(processes_with("SIDE=" + side), std::vector<pid_t>{}) << "survivors";
  log.read_more();
  const auto history = records();
  EXPECT_EQ(check_slots(history, jobs), std::vector<std::string>{});
  EXPECT_EQ(check_side_log(history, log.lines()), std::vector<std::string>{});
  int interrupted = 0;
  for (const auto& record : history) interrupted += record.result == run_result::interrupted ? 1 : 0;
  EXPECT_GE(interrupted, 3 * kills);
}

}  // namespace
}  // namespace looptask::tests
