// The main job as a newcomer sees it: the real program on a terminal runs examples/quickstart.toml, and all that the file
// promises happens.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "cli/program.hpp"
#include "kill9/service_process.hpp"
#include "ledger/sqlite_connection.hpp"
#include "process/scratch.hpp"
#include "quickstart/terminal_program.hpp"
#include "service/duration_words.hpp"
#include "service/lateness_histogram.hpp"
#include "source_tree.hpp"

namespace looptask::tests {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

// What must have been said before the service is told to stop: a line of the log that matches.
const std::map<std::string, std::regex> awaited{
    {"a sample was taken", std::regex("  sample +success in ")},
    {"the samples of a minute were summed up", std::regex("  summarise +success in ")},
    {"the server has ended, to be started again", std::regex("  page-server +success in ")},
    {"a page was fetched", std::regex("  fetch +success in ")},
    {"an attempt failed and the next is planned", std::regex("  flaky +attempt 1 failed: exit code 1; next in ")},
    {"a run came to a good end in a further attempt", std::regex("  (fetch|flaky) +success in [^,]+, [2-9] attempts")},
    {"the timeout strikes", std::regex("  hang +stopping: timeout: .* the timeout is 3s")},
    {"what hangs was killed", std::regex("  hang +timeout in .*: killed by SIGKILL")},
    {"a slot was skipped, and why", std::regex("  slow +slot of .* skipped: overlap: an earlier run has not ended")},
};

struct numbers {
  int runs = 0, failures = 0, retries = 0, timeouts = 0;
  service::lateness_histogram late;
  std::map<std::string, int> not_run;  // "skipped (overlap)"

  void add(const json& record) {
    if (record.at("outcome") != "ran") {
      not_run[record.at("outcome").get<std::string>() + " (" + record.at("cause").get<std::string>() + ")"] +=
          record.at("slots").get<int>();
      return;
    }
    EXPECT_EQ(record.at("phase"), "closed") << record;
    ++runs;
    if (record.at("result") != "success") ++failures;
    late.add(microseconds(std::llround(record.at("lateness").get<double>() * 1e6)));
    for (const json& attempt : record.at("attempts")) {
      if (attempt.at("n") > 1) ++retries;
      if (attempt.at("result") == "timeout") ++timeouts;
    }
  }

  // As the table of the summary has it, with one blank between columns.
  std::string row(const std::string& name) const {
    std::ostringstream text;
    text << name << ' ' << runs << ' ' << failures << ' ' << retries << ' ' << timeouts;
    for (const double part : {0.5, 0.99}) {
      const auto value = late.quantile(part);
      text << ' ' << (value ? service::duration_words(*value) : "-");
    }
    const char* between = " ";
    for (const auto& [why, slots] : not_run) text << std::exchange(between, ", ") << slots << ' ' << why;
    return text.str();
  }
};

// The lines after the table's heading, runs of blanks made one.
std::vector<std::string> rows_of_the_summary(const std::string& output) {
  std::istringstream lines(output.substr(std::min(output.size(), output.rfind("\nJOB ") + 1)));
  std::vector<std::string> rows;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) rows.push_back(std::regex_replace(line, std::regex(" +"), " "));
  return rows;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class quickstart : public testing::Test {
 protected:
  quickstart() {
    std::filesystem::create_directories(folder.path("examples"));
    std::filesystem::copy_file(source_dir() + "/examples/quickstart.toml", folder.path("examples/quickstart.toml"));
  }
  json runs(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"runs", "--json", "--data-dir", folder.path("data")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto said = cli::run_program({.arguments = arguments});
    EXPECT_EQ(said.code, 0) << said.err;
    return json::parse(said.out).at("runs");
  }
  // Run ids of `hang` that were given up by its timeout.
  std::vector<std::string> timed_out() const {
    std::vector<std::string> ids;
    for (const json& run : runs({"hang"}))
      if (run.at("result") == "timeout") ids.push_back(run.at("run_id"));
    return ids;
  }

  const scratch folder;
};

TEST_F(quickstart, does_what_it_says) {
  const auto until = steady_clock::now() + std::chrono::seconds(240);
  terminal_program service({binary_dir() + "/looptask", "run", "examples/quickstart.toml", "--data-dir", "data"},
                           {{"PATH", binary_dir() + "/examples:/usr/bin:/bin"}}, folder.path());
  auto missing = awaited;
  std::size_t hanging = 0;  // the most processes of the job that hangs, seen at once
  while (!missing.empty() && service.read_more(until)) {
    const std::string& said = service.output();
    const std::string whole_lines = said.substr(0, said.rfind('\n') + 1);
    const bool hung = !missing.contains("what hangs was killed");
    if (!hung) hanging = std::max(hanging, processes_with("LOOPTASK_JOB=hang").size());
    std::erase_if(missing, [&](const auto& each) { return std::regex_search(whole_lines, each.second); });
    if (hung || missing.contains("what hangs was killed")) continue;
    const auto ids = timed_out();  // once, when its end was told
    EXPECT_EQ(ids.size(), 1U);
    for (const auto& id : ids) EXPECT_TRUE(processes_with("LOOPTASK_RUN_ID=" + id).empty()) << id;
  }
  for (const auto& [what, line] : missing) ADD_FAILURE() << "did not come: " << what << "\n" << service.output();
  EXPECT_GE(hanging, 4U) << "a shell and three that sleep";
  service.signal(SIGTERM);
  ASSERT_EQ(service.finish(until + std::chrono::seconds(30)), 0) << service.output();

  // What the jobs made.
  const auto samples = lines_of(folder.read("build/quickstart/samples.csv"));
  ASSERT_FALSE(samples.empty());
  for (const auto& line : samples)
    EXPECT_TRUE(std::regex_match(line, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,\d+\.\d+,\d+)"))) << line;
  const auto summaries = lines_of(folder.read("build/quickstart/summary.txt"));
  ASSERT_FALSE(summaries.empty());
  EXPECT_TRUE(std::regex_match(summaries[0], std::regex(R"(\d+ samples, load .* on average, .* disk \d+ % full)")))
      << summaries[0];
  ledger::connection history(folder.path("data/history.db"), ledger::access::read_only);
  EXPECT_GE(history.number("select count(*) from runs join attempts on run = id where job = 'fetch' and "
                           "runs.result = 'success' and cast(output_head as text) like '% bytes: HTTP/1.0 200 OK%'"),
            1);

  // The summary says what the records say, number for number.
  std::map<std::string, numbers> exact;
  numbers total;
  for (const json& record : runs({"--all"})) {
    exact[record.at("job")].add(record);
    total.add(record);
  }
  EXPECT_EQ(exact.size(), 7U);
  EXPECT_GE(exact["flaky"].retries, 1);
  EXPECT_GE(exact["hang"].timeouts, 1);
  EXPECT_GE(exact["slow"].not_run["skipped (overlap)"], 1);
  std::vector<std::string> rows;
  rows.reserve(exact.size() + 1);
  for (const auto& [name, of] : exact) rows.push_back(of.row(name));
  rows.push_back(total.row("total"));
  EXPECT_EQ(rows_of_the_summary(service.output()), rows);

  // And nothing of any run is left.
  for (const json& run : runs({}))
    EXPECT_TRUE(processes_with("LOOPTASK_RUN_ID=" + run.at("run_id").get<std::string>()).empty()) << run;
}

}  // namespace
}  // namespace looptask::tests
