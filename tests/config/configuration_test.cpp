// What a good file is read as.
#include "service/configuration.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace looptask::service {
namespace {

using namespace std::chrono_literals;
using schedule::backoff_kind;
using schedule::interval_from;

configuration read(const std::string& text) {
  auto loaded = read_configuration(text, "jobs.toml", "/srv");
  for (const auto& p : loaded.errors) ADD_FAILURE() << p.to_string();
  return loaded.value ? *loaded.value : configuration{};
}

const job_settings& only_job(const configuration& c) {
  EXPECT_EQ(c.jobs.size(), 1U);
  return c.jobs.at(0);
}

instant utc(int year, unsigned month, unsigned day, microseconds time) {
  return instant(std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day))) + time;
}

TEST(configuration, an_empty_file_has_the_defaults_and_a_warning) {
  const auto loaded = read_configuration("", "jobs.toml", "/srv");
  ASSERT_TRUE(loaded.value);
  EXPECT_EQ(loaded.value->zone.name(), "UTC");
  EXPECT_FALSE(loaded.value->zone_given);
  EXPECT_EQ(loaded.value->max_running, 64);
  EXPECT_EQ(loaded.value->shutdown_grace, 30s);
  EXPECT_EQ(loaded.value->durability, ledger::durability::full);
  EXPECT_EQ(loaded.value->output_limit, 256 * 1024);
  EXPECT_TRUE(loaded.value->jobs.empty());
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_EQ(loaded.warnings[0].warning_class, "no-jobs");
}

TEST(configuration, a_job_has_the_defaults_of_the_key_table) {
  const auto c = read("[job.a]\nrun = [\"date\", \"-u\"]\n");
  const auto& job = only_job(c);
  EXPECT_EQ(job.definition.name, "a");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(job.definition.trigger));
  EXPECT_EQ(job.definition.overlap, schedule::overlap_policy::skip);
  EXPECT_EQ(job.definition.misfire, schedule::misfire_policy::run_once);
  EXPECT_EQ(job.definition.misfire_grace, 1s);
  EXPECT_EQ(job.definition.timeout, std::nullopt);
  EXPECT_EQ(job.definition.retry.max, 0U);
  EXPECT_EQ(job.definition.retry.backoff, backoff_kind::exponential);
  EXPECT_EQ(job.definition.retry.delay, 1s);
  EXPECT_EQ(job.definition.retry.factor, 2U);
  EXPECT_EQ(job.definition.retry.max_delay, 1min);
  EXPECT_EQ(job.definition.retry.jitter, 0.1);
  EXPECT_TRUE(job.definition.enabled);
  EXPECT_EQ(job.command.argv, (std::vector<std::string>{"date", "-u"}));
  EXPECT_EQ(job.command.stop_signal, SIGTERM);
  EXPECT_EQ(job.command.kill_after, 10s);
  EXPECT_EQ(job.command.success_codes, std::vector<int>{0});
  EXPECT_EQ(job.command.workdir, "/srv");
  EXPECT_TRUE(job.command.env.empty());
  EXPECT_TRUE(job.command.env_inherit.empty());
  EXPECT_EQ(job.description, "");
}

TEST(configuration, every_key_is_taken) {
  const auto c = read(R"(
config_version = 1
[service]
timezone = "Asia/Shanghai"
max_running = 3
shutdown_grace = "0s"
[history]
durability = "process"
output_limit = "1MiB"
[job.a]
every = "1m30s"
from = "grid"
shell = "date >> log"
timeout = "5s"
stop_signal = "SIGINT"
kill_after = "1s"
retry = { max = 3, backoff = "linear", delay = "250ms", factor = 3, max_delay = "2s", jitter = 0 }
overlap = "queue_one"
misfire = "skip"
success_codes = [0, 3]
workdir = "report"
env = { LANG = "C.UTF-8", JOB = "${job}" }
env_inherit = ["HTTP_*"]
enabled = false
description = "what it is for"
)");
  EXPECT_EQ(c.zone.name(), "Asia/Shanghai");
  EXPECT_TRUE(c.zone_given);
  EXPECT_EQ(c.max_running, 3);
  EXPECT_EQ(c.shutdown_grace, 0s);
  EXPECT_EQ(c.durability, ledger::durability::process);
  EXPECT_EQ(c.output_limit, 1024 * 1024);
  const auto& job = only_job(c);
  const auto& every = std::get<schedule::every_trigger>(job.definition.trigger);
  EXPECT_EQ(every.interval, 90s);
  EXPECT_EQ(every.from, interval_from::grid);
  EXPECT_EQ(every.initial_delay, 0s);
  EXPECT_EQ(job.command.argv, (std::vector<std::string>{"/bin/sh", "-c", "date >> log"}));
  EXPECT_EQ(job.definition.timeout, 5s);
  EXPECT_EQ(job.command.stop_signal, SIGINT);
  EXPECT_EQ(job.command.kill_after, 1s);
  EXPECT_EQ(job.definition.retry.max, 3U);
  EXPECT_EQ(job.definition.retry.backoff, backoff_kind::linear);
  EXPECT_EQ(job.definition.retry.delay, 250ms);
  EXPECT_EQ(job.definition.retry.factor, 3U);
  EXPECT_EQ(job.definition.retry.max_delay, 2s);
  EXPECT_EQ(job.definition.retry.jitter, 0.0);
  EXPECT_EQ(job.definition.overlap, schedule::overlap_policy::queue_one);
  EXPECT_EQ(job.definition.misfire, schedule::misfire_policy::skip);
  EXPECT_EQ(job.command.success_codes, (std::vector<int>{0, 3}));
  EXPECT_EQ(job.command.workdir, "/srv/report");
  EXPECT_EQ(job.command.env.size(), 2U);
  EXPECT_EQ(job.command.env_inherit, std::vector<std::string>{"HTTP_*"});
  EXPECT_FALSE(job.definition.enabled);
  EXPECT_EQ(job.description, "what it is for");
}

TEST(configuration, from_names_three_ways_of_counting) {
  const std::pair<const char*, interval_from> table[] = {{"", interval_from::end},
                                                         {"from = \"end\"", interval_from::end},
                                                         {"from = \"start\"", interval_from::start},
                                                         {"from = \"grid\"", interval_from::grid}};
  for (const auto& [line, from] : table) {
    const auto c = read(std::string("[job.a]\nrun = [\"true\"]\nevery = \"1s\"\n") + line);
    EXPECT_EQ(std::get<schedule::every_trigger>(only_job(c).definition.trigger).from, from) << line;
  }
}

TEST(configuration, cron_takes_the_nearest_zone) {
  const char* job = "[job.a]\nrun = [\"true\"]\ncron = \"0 3 * * *\"\n";
  const std::pair<std::string, const char*> table[] = {
      {job, "UTC"},
      {std::string("[service]\ntimezone = \"Asia/Shanghai\"\n") + job, "Asia/Shanghai"},
      {std::string("[defaults]\ntimezone = \"Europe/Berlin\"\n[service]\ntimezone = \"Asia/Shanghai\"\n") + job,
       "Europe/Berlin"},
      {std::string("[defaults]\ntimezone = \"Europe/Berlin\"\n") + job + "timezone = \"America/New_York\"", "America/New_York"},
  };
  for (const auto& [text, zone] : table) {
    const auto c = read(text);
    EXPECT_EQ(std::get<schedule::cron_trigger>(only_job(c).definition.trigger).where.name(), zone) << text;
    EXPECT_EQ(only_job(c).zone_given, std::string(zone) != "UTC");
  }
}

TEST(configuration, at_is_an_instant_or_a_time_in_the_jobs_zone) {
  const std::pair<const char*, instant> table[] = {
      {"2030-01-31T08:00:00Z", utc(2030, 1, 31, 8h)},
      {"2030-01-31 08:00:00.25+02:30", utc(2030, 1, 31, 5h + 30min + 250ms)},
      {"2030-01-31T08:00:00", utc(2030, 1, 31, 7h)},                   // Berlin in winter
      {"2026-03-29T02:30:00", utc(2026, 3, 29, 1h)},                   // missing there: the first instant after the jump
      {"2026-10-25T02:30:00.000001", utc(2026, 10, 25, 30min + 1us)},  // twice there: the first
      {"0001-01-01T00:00:00Z", utc(1, 1, 1, 0s)},
  };
  for (const auto& [when, expected] : table) {
    const auto c = read(std::string("[job.a]\nrun = [\"true\"]\ntimezone = \"Europe/Berlin\"\nat = ") + when);
    EXPECT_EQ(std::get<schedule::at_trigger>(only_job(c).definition.trigger).when, expected) << when;
  }
}

TEST(configuration, an_at_in_the_past_is_worth_a_warning) {
  const auto classes = [](instant now) {
    const auto loaded = read_configuration("[job.a]\nrun = [\"true\"]\ntimeout = \"1s\"\nat = 2030-01-31T08:00:00Z\n",
                                           "jobs.toml", "/etc", now);
    std::vector<std::string> found;
    for (const auto& w : loaded.warnings) found.push_back(w.warning_class);
    return found;
  };
  EXPECT_EQ(classes(utc(2030, 1, 31, 8h)), std::vector<std::string>{});
  EXPECT_EQ(classes(utc(2030, 1, 31, 8h + 1us)), std::vector<std::string>{"past"});
}

TEST(configuration, defaults_hold_for_every_job_that_does_not_say_otherwise) {
  const auto c = read(R"(
[defaults]
timeout = "5m"
kill_after = "2s"
retry = { max = 3, delay = "2s", jitter = 0.5 }
env = { A = "1", B = "2" }
env_inherit = ["X"]
success_codes = [0, 1]
[job.as_it_is]
run = ["true"]
[job.changed]
run = ["true"]
timeout = "1s"
retry.delay = "7s"
env = { B = "3", C = "4" }
env_inherit = ["Y"]
success_codes = [2]
)");
  ASSERT_EQ(c.jobs.size(), 2U);
  const auto& first = c.jobs[0];
  EXPECT_EQ(first.definition.timeout, 5min);
  EXPECT_EQ(first.command.kill_after, 2s);
  EXPECT_EQ(first.definition.retry.max, 3U);
  EXPECT_EQ(first.command.env, (std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "2"}}));
  const auto& second = c.jobs[1];
  EXPECT_EQ(second.definition.timeout, 1s);
  EXPECT_EQ(second.command.kill_after, 2s);
  EXPECT_EQ(second.definition.retry.max, 3U);  // retry is merged key by key
  EXPECT_EQ(second.definition.retry.delay, 7s);
  EXPECT_EQ(second.definition.retry.jitter, 0.5);
  EXPECT_EQ(second.command.env, (std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "3"}, {"C", "4"}}));
  EXPECT_EQ(second.command.env_inherit, std::vector<std::string>{"Y"});  // lists are replaced
  EXPECT_EQ(second.command.success_codes, std::vector<int>{2});
}

TEST(configuration, overlap_and_misfire_of_the_defaults_are_ignored_where_they_have_no_meaning) {
  const auto c = read("[defaults]\noverlap = \"queue_one\"\nmisfire = \"skip\"\n[job.a]\nevery = \"1s\"\nrun = [\"true\"]\n");
  EXPECT_EQ(only_job(c).definition.name, "a");
}

TEST(configuration, jobs_keep_the_order_of_the_file) {
  const auto c = read("[job.z]\nrun=[\"a\"]\n[job.a]\nrun=[\"a\"]\n[job]\nm.run = [\"a\"]\n");
  ASSERT_EQ(c.jobs.size(), 3U);
  EXPECT_EQ(c.jobs[0].definition.name, "z");
  EXPECT_EQ(c.jobs[1].definition.name, "a");
  EXPECT_EQ(c.jobs[2].definition.name, "m");
}

TEST(configuration, a_byte_order_mark_is_passed_over) {
  EXPECT_EQ(read("\xEF\xBB\xBF[job.a]\nrun = [\"true\"]\n").jobs.size(), 1U);
}

TEST(configuration, a_job_without_timeout_is_warned_about) {
  const auto without = read_configuration("[job.a]\nrun = [\"true\"]\n[job.b]\nrun = [\"true\"]\ntimeout = \"1s\"\n", "f", "/");
  ASSERT_EQ(without.warnings.size(), 1U);
  EXPECT_EQ(without.warnings[0].to_string(),
            "f:1:6: warning: job.a: has no timeout, so a run that hangs holds its place for ever; write for example timeout = "
            "\"5m\" [no-timeout]");
  EXPECT_TRUE(read_configuration("[defaults]\ntimeout=\"1s\"\n[job.a]\nrun = [\"true\"]\n", "f", "/").warnings.empty());
}

TEST(configuration, a_schedule_that_may_not_be_meant_is_warned_about) {
  const std::string text = "[defaults]\ntimeout = \"1s\"\ntimezone = \"Europe/Berlin\"\n[job.a]\nrun = [\"true\"]\ncron = ";
  const auto classes = [&](const std::string& expression, instant now) {
    std::vector<std::string> found;
    for (const auto& p : read_configuration(text + '"' + expression + "\"\n", "f", "/", now).warnings) {
      EXPECT_EQ(p.to_string().rfind("f:6:8: warning: job.a.cron: ", 0), 0U) << p.to_string();
      found.push_back(p.warning_class);
    }
    return found;
  };
  const auto in_2026 = utc(2026, 1, 1, 0s);
  EXPECT_EQ(classes("0 12 * * *", in_2026), std::vector<std::string>{});
  EXPECT_EQ(classes("0 0 30 2 *", in_2026), std::vector<std::string>{"never"});
  EXPECT_EQ(classes("0 0 12 1 1 ? 2025", in_2026), std::vector<std::string>{"never"});
  EXPECT_EQ(classes("30 2 * * *", in_2026), (std::vector<std::string>{"dst-gap", "dst-fold"}));
}

TEST(configuration, names_are_checked_by_hand) {
  for (const char* good : {"a", "A1", "0", "a.b-c_d"}) EXPECT_TRUE(is_name(good)) << good;
  EXPECT_TRUE(is_name(std::string(64, 'x')));
  for (const char* bad : {"", ".a", "-a", "_a", "a b", "a/b", "\xC3\xA4"}) EXPECT_FALSE(is_name(bad)) << bad;
  EXPECT_FALSE(is_name(std::string(65, 'x')));
}

}  // namespace
}  // namespace looptask::service
