#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/next_print.hpp"
#include "cli/program.hpp"
#include "process/scratch.hpp"
#include "schedule/instant_text.hpp"
#include "source_tree.hpp"

namespace looptask::cli {
namespace {

using nlohmann::json;

instant at(std::string_view text) { return schedule::parse_instant(text).value(); }

next_item cron_item(std::string_view expression, const std::string& zone_name) {
  const auto zone = schedule::zone::load(zone_name).value();
  return {"", schedule::cron_trigger{schedule::cron_expression::parse(expression).value(), zone}, zone, true};
}

std::string shown(const next_item& item, instant from, std::int64_t count) {
  const next_answer answers[] = {{item, coming_fires(item, from, count)}};
  return next_as_text(answers, from);
}

TEST(next_text, shows_wall_time_utc_distance_and_what_the_clock_change_does) {
  EXPECT_EQ(
      shown(cron_item("30 2 * * *", "Europe/Berlin"), at("2026-03-28T00:00:00Z"), 3),
      "cron 30 2 * * * (Europe/Berlin)\n"
      "  Sat 2026-03-28 02:30:00+01:00  2026-03-28T01:30:00Z  in 1h 30m\n"
      "  Sun 2026-03-29 03:00:00+02:00  2026-03-29T01:00:00Z  in 1d 1h   clock goes from 02:00 to 03:00: a missing time runs "
      "here\n"
      "  Mon 2026-03-30 02:30:00+02:00  2026-03-30T00:30:00Z  in 2d\n");
  EXPECT_EQ(shown(cron_item("30 2 * * *", "Europe/Berlin"), at("2026-10-25T00:00:00Z"), 1),
            "cron 30 2 * * * (Europe/Berlin)\n"
            "  Sun 2026-10-25 02:30:00+02:00  2026-10-25T00:30:00Z  in 30m  02:30 comes twice: runs the first time only\n");
  EXPECT_EQ(shown(cron_item("*/30 2 * * *", "Europe/Berlin"), at("2026-10-25T00:15:00Z"), 3),
            "cron */30 2 * * * (Europe/Berlin)\n"
            "  Sun 2026-10-25 02:30:00+02:00  2026-10-25T00:30:00Z  in 15m     02:30 comes twice: first time\n"
            "  Sun 2026-10-25 02:00:00+01:00  2026-10-25T01:00:00Z  in 45m     02:00 comes twice: second time\n"
            "  Sun 2026-10-25 02:30:00+01:00  2026-10-25T01:30:00Z  in 1h 15m  02:30 comes twice: second time\n");
  EXPECT_EQ(
      shown(cron_item("0 6 30 * *", "Pacific/Apia"), at("2011-12-30T00:00:00Z"), 1),
      "cron 0 6 30 * * (Pacific/Apia)\n"
      "  Sat 2011-12-31 00:00:00+14:00  2011-12-30T10:00:00Z  in 10h  clock goes from 2011-12-30 00:00 to 2011-12-31 00:00: a "
      "missing time runs here\n");
}

TEST(next_text, says_why_there_are_no_more) {
  EXPECT_EQ(shown(cron_item("0 0 30 2 *", "UTC"), at("2026-01-01T00:00:00Z"), 3),
            "cron 0 0 30 2 * (UTC)\n  never fires again\n");
  EXPECT_EQ(
      shown(cron_item("0 0 0 1 1 * 2027", "UTC"), at("2026-12-31T00:00:00Z"), 3),
      "cron 0 0 0 1 1 * 2027 (UTC)\n  Fri 2027-01-01 00:00:00+00:00  2027-01-01T00:00:00Z  in 1d\n  no more after that\n");
  EXPECT_EQ(shown(cron_item("@reboot", "UTC"), at("2026-12-31T00:00:00Z"), 3),
            "cron @reboot (UTC)\n  once when the service starts\n");
}

TEST(next_text, shows_each_kind_of_trigger) {
  using namespace std::chrono_literals;
  const instant from = at("2026-01-01T00:00:00.25Z");
  next_item item = cron_item("@daily", "UTC");
  item.name = "a";
  item.trigger = schedule::every_trigger{90s, schedule::interval_from::grid, 10s};
  EXPECT_EQ(shown(item, from, 2),
            "a: every 1m30s from grid (UTC)\n"
            "  Thu 2026-01-01 00:00:10.250+00:00  2026-01-01T00:00:10.250Z  in 10s\n"
            "  Thu 2026-01-01 00:01:40.250+00:00  2026-01-01T00:01:40.250Z  in 1m 40s\n"
            "  if the service starts then\n");
  item.trigger = schedule::every_trigger{5min, schedule::interval_from::end, 0s};
  EXPECT_EQ(shown(item, from, 2),
            "a: every 5m from end (UTC)\n"
            "  Thu 2026-01-01 00:00:00.250+00:00  2026-01-01T00:00:00.250Z  now\n"
            "  if the service starts then; then 5m after each run ended\n");
  item.trigger = schedule::at_trigger{at("2026-01-01T12:00:00Z")};
  EXPECT_EQ(shown(item, from, 2), "a: at (UTC)\n  Thu 2026-01-01 12:00:00+00:00  2026-01-01T12:00:00Z  in 11h 59m\n");
  item.trigger = schedule::at_trigger{from};
  EXPECT_EQ(shown(item, from, 2), "a: at (UTC)\n  its instant has passed\n");
  item.trigger = {};
  EXPECT_EQ(shown(item, from, 2), "a: no schedule (UTC)\n  runs when triggered\n");
  item.trigger = schedule::every_trigger{5min, schedule::interval_from::grid, 0s};
  item.enabled = false;
  EXPECT_EQ(shown(item, from, 2), "a: every 5m from grid (UTC)\n  disabled\n");
}

// What the history has of an interval job whose elapsed timeline runs `ahead` behind the wall clock.
next_item known_item(schedule::interval_from from, microseconds ahead) {
  using namespace std::chrono_literals;
  next_item item = cron_item("@daily", "UTC");
  item.name = "a";
  item.trigger = schedule::every_trigger{5min, from, 0s};
  job_past past;
  past.wall_ahead = ahead;
  past.state.anchor = at("2026-01-01T00:00:00Z") - ahead;
  past.state.watermark = at("2026-01-01T00:10:00Z") - ahead;
  past.state.last_start = at("2026-01-01T00:10:00Z") - ahead;
  past.state.last_end = at("2026-01-01T00:11:00Z") - ahead;
  item.past = past;
  return item;
}

TEST(next_text, intervals_continue_where_the_history_left_off) {
  using namespace std::chrono_literals;
  using schedule::interval_from;
  for (const microseconds ahead : {microseconds(0), microseconds(-3h)}) {
    EXPECT_EQ(shown(known_item(interval_from::end, ahead), at("2026-01-01T00:12:00Z"), 2),
              "a: every 5m from end (UTC)\n"
              "  Thu 2026-01-01 00:16:00+00:00  2026-01-01T00:16:00Z  in 4m\n"
              "  then 5m after each run ended\n");
    EXPECT_EQ(shown(known_item(interval_from::start, ahead), at("2026-01-01T00:12:00Z"), 2),
              "a: every 5m from start (UTC)\n"
              "  Thu 2026-01-01 00:15:00+00:00  2026-01-01T00:15:00Z  in 3m\n"
              "  then 5m after each run started, or when it ends\n");
    EXPECT_EQ(shown(known_item(interval_from::end, ahead), at("2026-01-01T00:20:00Z"), 2),
              "a: every 5m from end (UTC)\n"
              "  Thu 2026-01-01 00:20:00+00:00  2026-01-01T00:20:00Z  now\n"
              "  overdue, as soon as the service runs; then 5m after each run ended\n");
    EXPECT_EQ(shown(known_item(interval_from::grid, ahead), at("2026-01-01T00:12:00Z"), 2),
              "a: every 5m from grid (UTC)\n"
              "  Thu 2026-01-01 00:15:00+00:00  2026-01-01T00:15:00Z  in 3m\n"
              "  Thu 2026-01-01 00:20:00+00:00  2026-01-01T00:20:00Z  in 8m\n");
  }
}

TEST(next_text, says_what_the_history_says_of_a_job) {
  const instant from = at("2026-01-01T00:12:00Z");
  next_item item = known_item(schedule::interval_from::end, {});
  item.past->state.active.push_back({});
  EXPECT_EQ(shown(item, from, 2), "a: every 5m from end (UTC)\n  a run is going; 5m after each run ended\n");
  item = known_item(schedule::interval_from::end, {});
  item.past->continues = false;
  EXPECT_EQ(shown(item, from, 1),
            "a: every 5m from end (UTC)\n  Thu 2026-01-01 00:12:00+00:00  2026-01-01T00:12:00Z  now\n"
            "  if the service starts then; then 5m after each run ended\n");
  item.past->state.paused = true;
  EXPECT_EQ(shown(item, from, 2), "a: every 5m from end (UTC)\n  paused\n");
  item = known_item(schedule::interval_from::end, {});
  item.trigger = schedule::at_trigger{at("2026-01-01T00:10:00Z")};
  EXPECT_EQ(shown(item, at("2026-01-01T00:05:00Z"), 2),
            "a: at (UTC)\n  its instant is decided: it ran, or was missed; see looptask runs --all\n");
}

TEST(next_text, names_distances_by_their_two_largest_units) {
  using namespace std::chrono_literals;
  EXPECT_EQ(distance_text(0s), "now");
  EXPECT_EQ(distance_text(999ms), "now");
  EXPECT_EQ(distance_text(59s), "in 59s");
  EXPECT_EQ(distance_text(60s), "in 1m");
  EXPECT_EQ(distance_text(3h + 5s), "in 3h");
  EXPECT_EQ(distance_text(49h + 59min), "in 2d 1h");
  EXPECT_EQ(distance_text(-90s), "1m 30s ago");
}

const std::string jobs =
    "[service]\ntimezone = \"Europe/Berlin\"\n"
    "[job.nightly]\nrun = [\"true\"]\ncron = \"30 2 * * *\"\ntimeout = \"5s\"\n"
    "[job.tick]\nrun = [\"true\"]\nevery = \"1m\"\nfrom = \"grid\"\ntimeout = \"5s\"\ntimezone = \"Asia/Tokyo\"\n"
    "[job.once]\nrun = [\"true\"]\nat = 2026-07-01T12:00:00\ntimeout = \"5s\"\ntimezone = \"Asia/Tokyo\"\n";

TEST(next, shows_the_jobs_of_the_configuration_file) {
  const scratch folder;
  folder.write("looptask.toml", jobs);
  const auto r = run_program({{"next", "-n", "2", "--from", "2026-03-28T12:00:00Z", "--json"}, "", folder.path()});
  ASSERT_EQ(r.code, 0) << r.err;
  const json said = json::parse(r.out);
  EXPECT_EQ(said["schema_version"], 1);
  ASSERT_EQ(said["next"].size(), 3U);
  const json& nightly = said["next"][0];
  EXPECT_EQ(nightly["job"], "nightly");
  EXPECT_EQ(nightly["trigger"], "cron 30 2 * * *");
  EXPECT_EQ(nightly["timezone"], "Europe/Berlin");
  ASSERT_EQ(nightly["fires"].size(), 2U);
  EXPECT_EQ(nightly["fires"][0]["at"], "2026-03-29T01:00:00.000Z");
  EXPECT_EQ(nightly["fires"][0]["local"], "2026-03-29T03:00:00.000+02:00");
  EXPECT_EQ(nightly["fires"][0]["dst"], "moved");
  EXPECT_EQ(nightly["fires"][0]["in"], 46'800.0);
  EXPECT_EQ(nightly["warnings"], json::array({"dst-gap", "dst-fold"}));
  EXPECT_EQ(said["next"][1]["fires"][1]["at"], "2026-03-28T12:01:00.000Z");
  EXPECT_EQ(said["next"][1]["timezone"], "Asia/Tokyo");
  EXPECT_EQ(said["next"][2]["fires"][0]["at"], "2026-07-01T03:00:00.000Z");
}

TEST(next, continues_intervals_where_the_service_would) {
  const scratch folder;
  folder.write("five.toml", "[job.a]\nrun = [\"true\"]\nevery = \"5m\"\ntimeout = \"5s\"\n");
  const auto next = [&] {
    const auto r = run_program({{"next", "-c", "five.toml", "--data-dir", "data", "--json"}, "", folder.path()});
    EXPECT_EQ(r.err, "");
    return json::parse(r.out)["next"][0];
  };
  EXPECT_EQ(next()["fires"][0]["in"], 0.0) << "without a history the job starts with the service";
  running_program service({{"run", "five.toml", "--data-dir", "data"}, "", folder.path()});
  ASSERT_TRUE(service.wait_for("\"run_ended\""));
  service.signal(SIGTERM);
  EXPECT_EQ(service.finish().code, 0);
  const json found = next();
  const double ahead = found["fires"][0]["in"];
  EXPECT_GT(ahead, 0.0);
  EXPECT_LE(ahead, 300.0);
  EXPECT_EQ(found["remark"], "then 5m after each run ended");
  folder.write("data/history.db", std::string(8192, 'x'));
  const auto junk = run_program({{"next", "-c", "five.toml", "--data-dir", "data"}, "", folder.path()});
  EXPECT_EQ(junk.code, 0);
  EXPECT_NE(junk.err.find("data/history.db is not a LoopTask history"), std::string::npos) << junk.err;
}

TEST(next, takes_names_of_jobs) {
  const scratch folder;
  folder.write("x.toml", jobs);
  const auto one = run_program({{"next", "tick", "-c", "x.toml", "--from", "2026-03-28", "-n", "1"}, "", folder.path()});
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.out.rfind("tick: every 1m from grid (Asia/Tokyo)\n  Sat 2026-03-28 08:00:00+09:00  2026-03-27T23:00:00Z", 0),
            0U)
      << one.out;
  const auto none = run_program({{"next", "nigtly", "-c", "x.toml"}, "", folder.path()});
  EXPECT_EQ(none.code, 4);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "looptask next: no job \"nigtly\" in x.toml; did you mean nightly?\n");
  const std::string advice = "looptask next: \"x.toml\" is a file and no job; name a configuration with -c\n";
  EXPECT_EQ(run_program({{"next", "x.toml", "-c", "x.toml"}, "", folder.path()}).err, advice);
  EXPECT_EQ(run_program({{"next", "x.toml"}, "", folder.path()}).err, advice);
}

TEST(next, a_file_with_mistakes_is_no_base_for_an_answer) {
  const scratch folder;
  folder.write("looptask.toml", "[job.a]\nrun = [\"true\"]\ncron = \"61 * * * *\"\n");
  const auto r = run_program({{"next"}, "", folder.path()});
  EXPECT_EQ(r.code, 78);
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("looptask.toml:3:8: job.a.cron: "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("minutes are 0-59"), std::string::npos) << r.err;
}

TEST(next, takes_an_expression_and_says_on_stderr_what_may_surprise) {
  const auto r = run_program(
      {{"next", "--expr", "0 0 13 * 5", "--tz", "America/New_York", "--from", "2026-01-01T05:00:00Z", "-n", "1"}, "", "/"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out.rfind("cron 0 0 13 * 5 (America/New_York)\n  Fri 2026-01-02 00:00:00-05:00  2026-01-02T05:00:00Z", 0), 0U)
      << r.out;
  EXPECT_NE(r.err.find("[day-or]\n"), std::string::npos) << r.err;
}

TEST(next, wrong_arguments_are_one_clear_line) {
  const std::pair<std::vector<std::string>, const char*> table[] = {
      {{"--expr", "61 * * * *"}, "looptask next: --expr: column 1, minute \"61\": above 59; minutes are 0-59\n"},
      {{"--expr", "@daily", "--tz", "europe/berlin"},
       "looptask next: --tz: unknown time zone \"europe/berlin\": not in the installed time zone database; did you mean "
       "\"Europe/Berlin\"?\n"},
      {{"--expr", "@daily", "job"}, "looptask next: either jobs or --expr, not both\n"},
      {{"--tz", "UTC"}, "looptask next: --tz goes with --expr; a job has its own timezone\n"},
      {{"--batch", "--expr", "@daily"}, "looptask next: --batch takes all from its lines, as JSON; leave out --expr\n"},
      {{"--batch", "-n", "3"}, "looptask next: --batch takes all from its lines, as JSON; leave out -n\n"},
      {{"--batch", "--json"}, "looptask next: --batch takes all from its lines, as JSON; leave out --json\n"},
      {{"--expr", "@daily", "-c", "x"}, "looptask next: --expr asks no configuration; leave out -c\n"}};
  for (const auto& [arguments, message] : table) {
    program_call call{{"next"}, "", "/"};
    call.arguments.insert(call.arguments.end(), arguments.begin(), arguments.end());
    const auto r = run_program(call);
    EXPECT_EQ(r.code, 2) << message;
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(r.err, message);
  }
}

TEST(next, batch_answers_the_whole_corpus_in_order_and_survives_bad_lines) {
  std::ifstream corpus(tests::source_dir() + "/tests/corpus/cron/next.jsonl");
  std::string input;
  std::vector<json> expected;
  for (std::string line; std::getline(corpus, line);) {
    const json asked = json::parse(line);
    input += line + '\n';
    expected.push_back({{"id", asked["id"]}, {"next", asked["next"]}});
    if (expected.size() % 100 == 0) {
      input += "no json\n{\"id\":1,\"expr\":\"@daily\",\"tz\":\"Nowhere\",\"start\":\"2026-01-01T00:00:00Z\"}\n";
      expected.push_back({{"id", nullptr}});
      expected.push_back({{"id", 1}});
    }
  }
  ASSERT_GT(expected.size(), 1'911U);
  const auto r = run_program({{"next", "--batch"}, input, "/"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  std::istringstream said(r.out);
  std::size_t lines = 0;
  for (std::string line; std::getline(said, line); ++lines) {
    ASSERT_LT(lines, expected.size());
    const json found = json::parse(line);
    EXPECT_EQ(found["id"], expected[lines]["id"]);
    if (expected[lines].contains("next")) {
      EXPECT_EQ(found["next"], expected[lines]["next"]) << line;
    } else {
      EXPECT_TRUE(found.contains("error") && !found.contains("next")) << line;
    }
  }
  EXPECT_EQ(lines, expected.size());
}

TEST(next, batch_takes_the_last_line_without_an_end_and_no_lines_at_all) {
  EXPECT_EQ(run_program({{"next", "--batch"}, "{\"expr\":\"@daily\",\"start\":\"2026-01-01T00:00:00Z\",\"n\":1}", "/"}).out,
            "{\"id\":null,\"next\":[\"2026-01-02T00:00:00Z\"]}\n");
  const auto none = run_program({{"next", "--batch"}, "", "/"});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "");
}

}  // namespace
}  // namespace looptask::cli
