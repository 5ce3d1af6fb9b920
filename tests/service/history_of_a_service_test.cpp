// What the program writes down while it runs, on real processes and a real file.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "cli/program.hpp"
#include "ledger/sqlite_connection.hpp"
#include "ledger/temporary_directory.hpp"
#include "ledger/unprivileged.hpp"
#include "source_tree.hpp"

namespace looptask {
namespace {

using cli::program_result;
using cli::run_program;
using cli::running_program;
using nlohmann::json;

class HistoryOfAService : public testing::Test {
 protected:
  ledger::temporary_directory place;
  std::string data = place.file("data");
  std::string config = place.file("looptask.toml");

  void configure(const std::string& jobs) {
    std::ofstream(config) << "config_version = 1\n[service]\nshutdown_grace = \"1s\"\n" << jobs;
  }
  std::vector<std::string> run_arguments(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"run", config, "--data-dir", data});
    return more;
  }
  program_result run(std::vector<std::string> more = {}) const {
    return run_program({.arguments = run_arguments(std::move(more))});
  }
  json runs(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"runs", "--json", "--data-dir", data});
    const program_result said = run_program({.arguments = std::move(more)});
    EXPECT_EQ(said.code, 0) << said.err;
    return json::parse(said.out).at("runs");
  }
};

// One complaint, on one line, that names the place.
void expect_one_line(const std::string& err, const std::string& about) {
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_NE(err.find(about), std::string::npos) << err;
}

// The numbers of service/summary.hpp, counted from the records.
struct counted {
  std::uint64_t runs = 0, failures = 0, retries = 0, timeouts = 0;
  std::map<std::string, std::uint64_t> not_run;  // "outcome cause"
  std::vector<double> late;

  void add(const json& record) {
    if (record.at("outcome") != "ran") {
      not_run[record.at("outcome").get<std::string>() + " " + record.at("cause").dump()] +=
          record.at("slots").get<std::uint64_t>();
      return;
    }
    ASSERT_EQ(record.at("phase"), "closed") << record;
    ++runs;
    if (record.at("result") != "success") ++failures;
    late.push_back(std::max(0.0, record.at("lateness").get<double>()));
    for (const json& attempt : record.at("attempts")) {
      if (attempt.at("n") > 1) ++retries;
      if (attempt.at("result") == "timeout") ++timeouts;
    }
  }
};

void expect_quantile(std::vector<double> values, double part, const json& told) {
  if (values.empty()) {
    EXPECT_TRUE(told.is_null());
    return;
  }
  std::sort(values.begin(), values.end());
  const double exact = values[static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size()))) - 1];
  EXPECT_GE(told.get<double>(), exact - 1e-9);
  EXPECT_LE(told.get<double>(), exact * (1 + 1.0 / 128) + 1e-9);
}

void expect_summary(const json& told, const counted& exact) {
  EXPECT_EQ(told.at("runs"), exact.runs) << told;
  EXPECT_EQ(told.at("failures"), exact.failures) << told;
  EXPECT_EQ(told.at("retries"), exact.retries) << told;
  EXPECT_EQ(told.at("timeouts"), exact.timeouts) << told;
  std::map<std::string, std::uint64_t> not_run;
  for (const json& each : told.at("not_run")) {
    not_run[each.at("outcome").get<std::string>() + " " + each.at("cause").dump()] = each.at("slots");
  }
  EXPECT_EQ(not_run, exact.not_run) << told;
  expect_quantile(exact.late, 0.5, told.at("lateness_p50"));
  expect_quantile(exact.late, 0.99, told.at("lateness_p99"));
}

constexpr const char* jobs_of_all_kinds = R"(
[job.good]
every = "100ms"
from = "grid"
run = ["true"]
timeout = "10s"
[job.fails]
every = "300ms"
shell = "exit 3"
timeout = "10s"
retry = { max = 1, backoff = "fixed", delay = "50ms" }
[job.slow]
every = "200ms"
from = "grid"
shell = "sleep 0.7"
timeout = "10s"
[job.hangs]
every = "500ms"
run = ["sleep", "60"]
timeout = "200ms"
kill_after = "100ms"
)";

TEST_F(HistoryOfAService, TheSummaryIsWhatTheRecordsSay) {
  configure(jobs_of_all_kinds);
  running_program service({.arguments = run_arguments({"--json"})});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(service.wait_for_next("run_ended\",\"job\":\"good\""));
  for (const char* event : {"retry_planned\",\"job\":\"fails\"", "slot_not_run\",\"job\":\"slow\"",
                            "run_ended\",\"job\":\"fails\"", "run_ended\",\"job\":\"slow\"", "run_ended\",\"job\":\"hangs\""})
    ASSERT_TRUE(service.wait_for(event));
  service.signal(SIGTERM);
  const program_result said = service.finish();
  ASSERT_EQ(said.code, 0) << said.err;
  const json summary = json::parse(said.out);
  std::map<std::string, counted> exact;
  counted total;
  for (const json& record : runs({"--all"})) {
    exact[record.at("job")].add(record);
    total.add(record);
  }
  ASSERT_EQ(summary.at("jobs").size(), 4U) << summary;
  for (const json& job : summary.at("jobs")) expect_summary(job, exact[job.at("job")]);
  expect_summary(summary.at("total"), total);
  EXPECT_GE(exact["good"].runs, 5U);
  EXPECT_GE(exact["fails"].retries, 1U);
  EXPECT_GE(exact["hangs"].timeouts, 1U);
  EXPECT_GE((exact["slow"].not_run["skipped \"overlap\""]), 1U);
}

TEST_F(HistoryOfAService, TheSummaryForPeopleHoldsALineForEachJobAndTheTotal) {
  configure(jobs_of_all_kinds);
  const program_result said = run({"--for", "1s"});
  ASSERT_EQ(said.code, 0) << said.err;
  for (const char* line : {"JOB ", "\nfails ", "\ngood ", "\nhangs ", "\nslow ", "\ntotal "}) {
    EXPECT_NE(said.out.find(line), std::string::npos) << said.out;
  }
}

TEST_F(HistoryOfAService, OneLifeAddsToTheRecordsOfAnother) {
  configure("[job.tick]\nevery = \"100ms\"\nrun = [\"true\"]\ntimeout = \"10s\"\n");
  const auto live_for_two_runs = [&] {
    running_program service({.arguments = run_arguments()});
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(service.wait_for_next("run_ended"));
    service.signal(SIGTERM);
    EXPECT_EQ(service.finish().code, 0);
  };
  live_for_two_runs();
  const json first = runs();
  ASSERT_GE(first.size(), 2U);
  live_for_two_runs();
  const json both = runs();
  ASSERT_GT(both.size(), first.size());
  EXPECT_EQ(json(both.end() - static_cast<std::ptrdiff_t>(first.size()), both.end()), first) << "closed records were changed";
}

bool is_alive(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string line;
  return std::getline(stat, line) && line.find(") Z ") == std::string::npos;
}

TEST_F(HistoryOfAService, AfterKillNineARunIsInterruptedAndItsProcessGone) {
  configure("[job.long]\nevery = \"1h\"\nshell = \"echo $$ > pid; exec sleep 600\"\ntimeout = \"2h\"\n");
  ASSERT_EQ(mkfifo(place.file("pid").c_str(), 0600), 0);
  running_program service({.arguments = run_arguments()});
  ASSERT_TRUE(service.wait_for("attempt_started"));
  std::string pid;
  std::ifstream told(place.file("pid"));  // waits for the job to open it
  ASSERT_TRUE(std::getline(told, pid));
  service.signal(SIGKILL);
  service.finish();
  const json open = runs();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].at("phase"), "open");
  EXPECT_TRUE(open[0].at("result").is_null());
  EXPECT_TRUE(is_alive(pid));

  ASSERT_EQ(run({"--for", "300ms"}).code, 0);
  EXPECT_FALSE(is_alive(pid));
  const json all = runs();
  const auto interrupted =
      std::find_if(all.begin(), all.end(), [&](const json& r) { return r.at("run_id") == open[0].at("run_id"); });
  ASSERT_NE(interrupted, all.end());
  EXPECT_EQ(interrupted->at("phase"), "closed");
  EXPECT_EQ(interrupted->at("result"), "interrupted");
  EXPECT_EQ(interrupted->at("attempts").size(), 1U);
  EXPECT_GE(interrupted->at("ended").get<std::string>(), interrupted->at("started").get<std::string>());
}

TEST_F(HistoryOfAService, ADataDirectoryBelongsToOneService) {
  configure("[job.tick]\nevery = \"1h\"\nrun = [\"true\"]\ntimeout = \"10s\"\n");
  running_program first({.arguments = run_arguments()});
  ASSERT_TRUE(first.wait_for("\"event\":\"started\""));
  const program_result second = run({"--for", "1s"});
  EXPECT_EQ(second.code, 5);
  EXPECT_EQ(second.out, "");
  expect_one_line(second.err, data);
  ASSERT_TRUE(first.wait_for("\"event\":\"run_ended\""));
  EXPECT_EQ(runs().size(), 1U);  // reading asks for no lock
  first.signal(SIGTERM);
  EXPECT_EQ(first.finish().code, 0);
  EXPECT_EQ(run({"--for", "100ms"}).code, 0) << "the lock outlived its service";
}

TEST_F(HistoryOfAService, AHistoryThatIsNoneStopsTheStart) {
  configure("[job.mark]\nevery = \"1h\"\nshell = \"touch started\"\ntimeout = \"10s\"\n");
  ASSERT_EQ(mkdir(data.c_str(), 0700), 0);
  std::ofstream(data + "/history.db") << std::string(8192, 'x');
  const program_result said = run({"--for", "1s"});
  EXPECT_EQ(said.code, 125);
  expect_one_line(said.err, data + "/history.db");
  EXPECT_FALSE(std::filesystem::exists(place.file("started")));
}

TEST_F(HistoryOfAService, WhileTheHistoryCannotBeWrittenNothingStartsAndThenItGoesOn) {
  configure("[job.tick]\nevery = \"100ms\"\nrun = [\"true\"]\ntimeout = \"10s\"\n");
  running_program service({.arguments = run_arguments()});
  ASSERT_TRUE(service.wait_for("run_ended"));
  {
    ledger::connection other(data + "/history.db", ledger::access::read_write);
    other.execute("begin immediate");
    const auto before = runs().size();
    ASSERT_TRUE(service.wait_for("ledger_trouble"));
    EXPECT_EQ(runs().size(), before);
    other.execute("rollback");
  }
  EXPECT_TRUE(service.wait_for("ledger_healed"));
  EXPECT_TRUE(service.wait_for_after("ledger_healed", "run_ended"));
  service.signal(SIGTERM);
  EXPECT_EQ(service.finish().code, 0);
}

// Runs a copy of the program as nobody; the original may lie where nobody may look.
program_result run_as_nobody(const ledger::temporary_directory& place, const std::string& arguments) {
  chmod(place.path().c_str(), 0755);
  const std::string program = place.file("looptask");
  std::filesystem::copy_file(tests::binary_dir() + "/looptask", program, std::filesystem::copy_options::overwrite_existing);
  chmod(program.c_str(), 0755);
  const std::string command = program + " " + arguments + " 2>&1 >/dev/null; echo \"exit $?\"";
  const std::string said = ledger::as_nobody([&command] {
    FILE* const out = popen(command.c_str(), "r");
    std::string all;
    for (int c = 0; (c = fgetc(out)) != EOF;) all += static_cast<char>(c);
    pclose(out);
    return all;
  });
  const auto exit = said.rfind("exit ");
  if (exit == std::string::npos) return {.code = -1, .out = {}, .err = said};
  return {.code = std::atoi(said.c_str() + exit + 5), .out = {}, .err = said.substr(0, exit)};
}

TEST_F(HistoryOfAService, ADataDirectoryThatMayNotBeMadeIsNamed) {
  configure("[job.tick]\nevery = \"1s\"\nrun = [\"true\"]\ntimeout = \"10s\"\n");
  ASSERT_EQ(mkdir(place.file("closed").c_str(), 0555), 0);
  data = place.file("closed/data");
  const program_result said = run_as_nobody(place, "run " + config + " --data-dir " + data);
  EXPECT_EQ(said.code, 125);
  expect_one_line(said.err, "the data directory " + data + " cannot be created: Permission denied; choose another with");
}

TEST_F(HistoryOfAService, ADataDirectoryThatMayNotBeWrittenIsNamed) {
  configure("[job.tick]\nevery = \"1s\"\nrun = [\"true\"]\ntimeout = \"10s\"\n");
  ASSERT_EQ(mkdir(data.c_str(), 0555), 0);
  const program_result said = run_as_nobody(place, "run " + config + " --data-dir " + data);
  EXPECT_EQ(said.code, 125);
  expect_one_line(said.err, "the data directory " + data + " cannot be written: Permission denied; choose another with");
}

TEST_F(HistoryOfAService, AHistoryThatMayNotBeReadIsNamed) {
  ASSERT_EQ(mkdir(data.c_str(), 0700), 0);
  const program_result said = run_as_nobody(place, "runs --data-dir " + data);
  EXPECT_EQ(said.code, 125);
  EXPECT_EQ(said.err, "looptask runs: cannot open the history " + data +
                          "/history.db: Permission denied; look at it as the service's user, or choose another data directory "
                          "with --data-dir\n");
}

TEST_F(HistoryOfAService, SomebodyWhoMayOnlyReadItCanLookAtTheHistory) {
  configure("[job.tick]\nevery = \"100ms\"\nrun = [\"true\"]\ntimeout = \"10s\"\n");
  ASSERT_EQ(mkdir(data.c_str(), 0755), 0);
  ASSERT_EQ(run({"--for", "300ms"}).code, 0);
  for (const auto& file : std::filesystem::directory_iterator(data)) chmod(file.path().c_str(), 0644);
  EXPECT_EQ(run_as_nobody(place, "runs --data-dir " + data).code, 0);
  EXPECT_EQ(run_as_nobody(place, "runs tick --json --data-dir " + data).code, 0);
}

}  // namespace
}  // namespace looptask
