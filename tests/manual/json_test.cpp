// The manual has every field that programs can read, and no other.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"
#include "engine/events.hpp"
#include "ledger/sqlite_connection.hpp"
#include "manual/page.hpp"
#include "process/scratch.hpp"

namespace looptask::manual {
namespace {

using names = std::set<std::string>;
using nlohmann::json;

// All keys, at any depth, but those below `closed`.
void add_keys(names& to, const json& value, const names& closed = {}) {
  if (value.is_array())
    for (const json& each : value) add_keys(to, each, closed);
  if (!value.is_object()) return;
  for (const auto& [key, below] : value.items()) {
    to.insert(key);
    if (!closed.contains(key)) add_keys(to, below, closed);
  }
}

names keys(const json& value, const names& closed = {}) {
  names found;
  add_keys(found, value, closed);
  return found;
}

json answer(const std::vector<std::string>& arguments) {
  const auto said = cli::run_program({.arguments = arguments});
  EXPECT_EQ(said.code, 0) << said.err;
  return json::parse(said.out);
}

std::string command_line(const std::string& heading) { return section(page("docs/command-line.md"), heading); }

// Two lives of a service in which all kinds of things happen.
class two_lives : public testing::Test {
 protected:
  two_lives() {
    folder.write("jobs.toml", R"(
[service]
shutdown_grace = "0ms"
[job.beat]
every = "2ms"
from = "grid"
shell = "sleep 0.05"
kill_after = "1s"
[job.fails]
every = "1h"
shell = "exit 3"
timeout = "10s"
retry = { max = 1, delay = "1ms" }
[job.hangs]
every = "1h"
run = ["sleep", "60"]
timeout = "100ms"
)");
    live(R"("event":"run_ended","job":"hangs")");
    live(R"("slots":)");  // what passed in between is one record
  }
  // Until the log says this; then it is stopped.
  void live(const std::string& until) {
    cli::running_program service({.arguments = {"run", folder.path("jobs.toml"), "--data-dir", folder.path("data"), "--json"}});
    EXPECT_TRUE(service.wait_for(until));
    service.signal(SIGTERM);
    const auto result = service.finish();
    EXPECT_EQ(result.code, 0) << result.err;
    summaries.push_back(json::parse(result.out));
    std::istringstream lines(result.err);
    for (std::string line; std::getline(lines, line);) log.push_back(json::parse(line));
  }

  const scratch folder;
  json summaries, log;
};

TEST_F(two_lives, are_told_in_the_documented_form) {
  // The summary.
  EXPECT_EQ(keys(summaries, {"results"}), fields(command_line("### run --json"), {"jobs", "not_run"})) << summaries;

  // The history.
  const json runs = answer({"runs", "--json", "--all", "--data-dir", folder.path("data")}).at("runs");
  EXPECT_EQ(keys(runs), fields(section(page("docs/history.md"), "### JSON"), {"attempts"})) << runs;

  // The log. Nobody was slow to take its lines, and small programs may have no known peak of memory.
  names told{"lines", "max_rss"};
  add_keys(told, log);
  const std::string live_log = command_line("## The live log");
  const auto events_from = live_log.find("| events |");
  EXPECT_EQ(told, fields(live_log.substr(0, events_from)));
  const names events = fields(live_log.substr(events_from));
  for (const json& line : log) EXPECT_TRUE(events.contains(line.at("event").get<std::string>())) << line;
}

TEST_F(two_lives, can_be_asked_with_the_queries_of_the_manual) {
  const std::string text = page("docs/history.md");
  const std::regex query("sqlite3 -readonly history.db \"([^.\"][^\"]*)\"");
  ledger::connection history(folder.path("data/history.db"), ledger::access::read_only);
  int queries = 0;
  for (std::sregex_iterator each(text.begin(), text.end(), query), end; each != end; ++each, ++queries)
    EXPECT_NO_THROW(history.execute((*each)[1].str().c_str())) << (*each)[1];
  EXPECT_GE(queries, 3);
}

TEST(manual, has_every_event_of_the_engine) {
  const std::string text = command_line("## The live log");
  const names documented = fields(text.substr(text.find("| events |")));
  using engine::event_kind;
  for (auto kind = event_kind::job_changed; kind <= event_kind::body_misbehaved; kind = event_kind(int(kind) + 1))
    EXPECT_TRUE(documented.contains(std::string(to_string(kind)))) << to_string(kind);
}

TEST(manual, has_the_fields_of_next) {
  names told = keys(answer({"next", "--json", "--expr", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-03-28"}));
  add_keys(told, answer({"next", "--json", "--expr", "0 0 0 1 1 * 2020"}));  // its time has passed
  EXPECT_EQ(told, fields(command_line("### next --json")));
}

TEST(manual, has_the_fields_of_version) {
  EXPECT_EQ(keys(answer({"version", "--json"})), fields(command_line("### version --json")));
}

TEST(manual, has_the_fields_of_check) {
  const scratch folder;
  folder.write("jobs.toml", "[job.a]\nrun = [\"true\"]\nevry = \"1s\"\n");
  const auto said = cli::run_program({.arguments = {"check", "--json", folder.path("jobs.toml")}});
  EXPECT_EQ(said.code, 78) << said.err;
  const json report = json::parse(said.out);
  EXPECT_FALSE(report.at("errors").empty() || report.at("warnings").empty()) << report;
  const std::string text = section(page("docs/configuration.md"), "## Mistakes");
  const std::string form = text.substr(text.find("`{\"schema_version\""));
  const std::regex word("\"([a-z_]+)\"");
  names documented;
  for (std::sregex_iterator each(form.begin(), form.end(), word), end; each != end; ++each) documented.insert((*each)[1]);
  EXPECT_EQ(keys(report), documented);
}

}  // namespace
}  // namespace looptask::manual
