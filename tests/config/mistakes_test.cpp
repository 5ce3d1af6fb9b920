// Every mistake a file can have: where it is said to be, for which key, and what would be right.
#include <gtest/gtest.h>

#include <algorithm>

#include <string>
#include <vector>

#include "service/configuration.hpp"
#include "service/key_table.hpp"

namespace looptask::service {
namespace {

using lines = std::vector<std::string>;

lines mistakes(const std::string& text) {
  const auto loaded = read_configuration(text, "f", "/srv");
  EXPECT_EQ(loaded.value.has_value(), loaded.errors.empty());
  lines said;
  for (const auto& p : loaded.errors) {
    said.push_back(p.to_string());
    EXPECT_EQ(said.back().find('\n'), std::string::npos) << said.back();
  }
  return said;
}

// One mistake in a job that is otherwise fine; the line stands in line 3, its key in column 1.
std::string in_job(const std::string& line) {
  const auto said = mistakes("[job.a]\nrun = [\"true\"]\n" + line + "\n");
  return said.size() == 1 ? said[0]
                          : std::to_string(said.size()) + " mistakes in: " + line + (said.empty() ? "" : "\n" + said[0]);
}

struct one_line {
  const char* line;
  const char* said;
};

TEST(mistakes, a_key_of_very_many_parts_is_refused_before_it_fills_the_stack) {
  std::string key = "a";
  for (int i = 0; i < 400'000; ++i) key += ".a";
  const lines refused{"f:1:2002: not TOML: more than 1000 dots in a key; write a short one"};
  EXPECT_EQ(mistakes(key + " = 1\n"), refused);
  EXPECT_EQ(mistakes("[" + key + "]\n").size(), 1U);
  EXPECT_EQ(mistakes("x = { " + key + " = 1 }\n").size(), 1U);
}

TEST(mistakes, in_a_value_of_a_job) {
  const one_line table[] = {
      {"every = 5", "f:3:9: job.a.every: is an integer; write a duration in quotes with its unit, as in \"5m\" or \"1h30m\""},
      {"every = \"5\"",
       "f:3:9: job.a.every: \"5\" is no duration: a number needs a unit; write for example \"90s\", \"1h30m\" or \"250ms\""},
      {"every = \"999us\"", "f:3:9: job.a.every: \"999us\" is too short; write at least \"1ms\""},
      {"every = \"1 month\"",
       "f:3:9: job.a.every: calendar intervals are not in this version yet; write a duration, as in \"24h\", or use cron"},
      {"cron = 5", "f:3:8: job.a.cron: is an integer; write a cron expression in quotes, as in \"0 3 * * *\""},
      {"cron = [\"0 3 * * *\"]",
       "f:3:8: job.a.cron: a list of expressions is not in this version yet; write one, as in \"0 3 * * *\""},
      {"cron = \"61 * * * *\"", "f:3:8: job.a.cron: column 1, minute \"61\": above 59; minutes are 0-59"},
      {"at = \"startup\"",
       "f:3:6: job.a.at: \"startup\" is not in this version yet; write a date with a time, without quotes, as in "
       "2030-01-31T08:00:00 or 2030-01-31T08:00:00Z"},
      {"at = \"2030-01-31T08:00:00\"",
       "f:3:6: job.a.at: is a string; write a date with a time, without quotes, as in 2030-01-31T08:00:00 or "
       "2030-01-31T08:00:00Z"},
      {"at = 2030-01-31",
       "f:3:6: job.a.at: is a date; write a date with a time, without quotes, as in 2030-01-31T08:00:00 or "
       "2030-01-31T08:00:00Z"},
      {"at = 08:00:00",
       "f:3:6: job.a.at: is a time of day; write a date with a time, without quotes, as in 2030-01-31T08:00:00 or "
       "2030-01-31T08:00:00Z"},
      {"at = [2030-01-31T08:00:00Z]",
       "f:3:6: job.a.at: a list of times is not in this version yet; write a date with a time, without quotes, as in "
       "2030-01-31T08:00:00 or 2030-01-31T08:00:00Z"},
      {"timezone = true",
       "f:3:12: job.a.timezone: is true or false; write the name of a zone in quotes, as in \"Europe/Berlin\""},
      {"timeout = 1.5",
       "f:3:11: job.a.timeout: is a number with a fraction; write a duration in quotes with its unit, as in \"5m\" or "
       "\"1h30m\""},
      {"timeout = \"0s\"", "f:3:11: job.a.timeout: \"0s\" is too short; write at least \"1ms\""},
      {"stop_signal = 15", "f:3:15: job.a.stop_signal: is an integer; write the name of a signal, as in \"SIGINT\""},
      {"stop_signal = \"int\"", "f:3:15: job.a.stop_signal: no signal \"int\"; did you mean \"SIGINT\"?"},
      {"stop_signal = \"SIGRTMIN\"",
       "f:3:15: job.a.stop_signal: no signal \"SIGRTMIN\"; write one of SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGKILL, SIGQUIT, "
       "SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH"},
      {"kill_after = \"-1s\"",
       "f:3:14: job.a.kill_after: \"-1s\" is no duration: a whole number must stand before each unit; write for example "
       "\"90s\", \"1h30m\" or \"250ms\""},
      {"retry = 3", "f:3:9: job.a.retry: is an integer; write a table, as in { max = 3 }"},
      {"retry = { max = -1 }", "f:3:17: job.a.retry.max: is -1; write a number from 0 to 1000000"},
      {"retry = { max = \"3\" }", "f:3:17: job.a.retry.max: is a string; write a whole number, as in 3"},
      {"retry.max = 0.5", "f:3:13: job.a.retry.max: is a number with a fraction; write a whole number, as in 3"},
      {"retry = { backoff = \"cubic\" }",
       "f:3:21: job.a.retry.backoff: there is no \"cubic\"; write \"fixed\", \"linear\" or \"exponential\""},
      {"retry = { delay = 1 }",
       "f:3:19: job.a.retry.delay: is an integer; write a duration in quotes with its unit, as in \"5m\" or \"1h30m\""},
      {"retry = { factor = 0 }", "f:3:20: job.a.retry.factor: is 0; write a number from 1 to 1000"},
      {"retry = { max_delay = true }",
       "f:3:23: job.a.retry.max_delay: is true or false; write a duration in quotes with its unit, as in \"5m\" or \"1h30m\""},
      {"retry = { jitter = 1.5 }", "f:3:20: job.a.retry.jitter: is out of range; write a number from 0 to 1"},
      {"retry = { jitter = nan }", "f:3:20: job.a.retry.jitter: is out of range; write a number from 0 to 1"},
      {"retry = { jitter = \"a\" }", "f:3:20: job.a.retry.jitter: is a string; write a number, as in 0.2"},
      {"retry = { maximum = 3 }",
       "f:3:11: job.a.retry.maximum: unknown key; known here are max, backoff, delay, factor, max_delay, jitter"},
      {"retry = { retry_on = [1] }", "f:3:11: job.a.retry.retry_on: not in this version yet; remove it"},
      {"cron = \"* * * * *\"\noverlap = \"allow\"",
       "f:4:11: job.a.overlap: \"allow\" is not in this version yet; write \"skip\" or \"queue_one\""},
      {"cron = \"* * * * *\"\noverlap = \"wait\"",
       "f:4:11: job.a.overlap: there is no \"wait\"; write \"skip\" or \"queue_one\""},
      {"cron = \"* * * * *\"\nmisfire = \"run_all\"",
       "f:4:11: job.a.misfire: \"run_all\" is not in this version yet; write \"skip\" or \"run_once\""},
      {"success_codes = 0",
       "f:3:17: job.a.success_codes: is an integer; write a list of exit codes from 0 to 255, as in [0, 3]"},
      {"success_codes = []",
       "f:3:17: job.a.success_codes: is empty, so no run could succeed; write a list of exit codes from 0 to 255, as in [0, "
       "3]"},
      {"success_codes = [0, 256]",
       "f:3:21: job.a.success_codes: has 256 in it; write a list of exit codes from 0 to 255, as in [0, 3]"},
      {"success_codes = [\"0\"]",
       "f:3:18: job.a.success_codes: is a list with a string in it; write a list of exit codes from 0 to 255, as in [0, 3]"},
      {"workdir = \"\"", "f:3:11: job.a.workdir: is empty; write a path, or leave the key out"},
      {"workdir = 1", "f:3:11: job.a.workdir: is an integer; write a path in quotes, as in \"/srv/report\""},
      {"env = [\"A=1\"]", "f:3:7: job.a.env: is a list; write a table of strings, as in { LANG = \"C.UTF-8\" }"},
      {"env = { A = 1 }", "f:3:13: job.a.env.A: is an integer; write a string in quotes"},
      {"env = { \"A=B\" = \"\" }", "f:3:9: job.a.env.\"A=B\": is no name of a variable; it may not be empty nor hold '='"},
      {"env = { LOOPTASK_JOB = \"x\" }", "f:3:9: job.a.env.LOOPTASK_JOB: is set by looptask itself; take another name"},
      {"env = { A = \"a\\u0000b\" }", "f:3:13: job.a.env.A: holds a NUL character; no program can get one"},
      {"env_inherit = \"PATH\"",
       "f:3:15: job.a.env_inherit: is a string; write a list of names or globs, as in [\"HTTP_PROXY\", \"AWS_*\"]"},
      {"env_inherit = [\"A=1\"]",
       "f:3:15: job.a.env_inherit: holds \"A=1\", which is no name; write a list of names or globs, as in [\"HTTP_PROXY\", "
       "\"AWS_*\"]"},
      {"enabled = 1", "f:3:11: job.a.enabled: is an integer; write true or false, without quotes"},
      {"description = 1", "f:3:15: job.a.description: is an integer; write a string in quotes"},
      {"tiemout = \"5s\"", "f:3:1: job.a.tiemout: unknown key; did you mean timeout?"},
      {"max_running = 3", "f:3:1: job.a.max_running: unknown key; it stands in [service]"},
      {"pool = \"db\"", "f:3:1: job.a.pool: not in this version yet; remove it"},
  };
  for (const auto& [line, said] : table) EXPECT_EQ(in_job(line), said);
}

TEST(mistakes, in_what_a_job_runs) {
  const one_line table[] = {
      {"", "f:1:6: job.a: has nothing to run; write run = [\"program\", \"argument\"] or shell = \"line\""},
      {"run = \"date\"",
       "f:2:7: job.a.run: is a string; write a list of strings, as in [\"date\", \"-u\"], or use shell for a whole line"},
      {"run = []", "f:2:7: job.a.run: names no program; write a list of strings, as in [\"date\", \"-u\"]"},
      {"run = [\"\"]", "f:2:7: job.a.run: names no program; write a list of strings, as in [\"date\", \"-u\"]"},
      {"run = [\"date\", 5]",
       "f:2:16: job.a.run: is a list with an integer in it; write a list of strings, as in [\"date\", \"-u\"]"},
      {"run = [\"a\\u0000b\"]", "f:2:8: job.a.run: holds a NUL character; no program can get one"},
      {"shell = [\"date\"]", "f:2:9: job.a.shell: is a list; write a line for the shell as one string, or use run for a list"},
      {"shell = 5", "f:2:9: job.a.shell: is an integer; write a line for the shell, as in \"date >> log\""},
      {"shell = \" \"", "f:2:9: job.a.shell: is empty; write a line for the shell, as in \"date >> log\""},
      {"run = [\"a\"]\nshell = \"b\"", "f:3:1: job.a.shell: cannot stand beside run; keep one of run and shell"},
      {"shell = \"b\"\nrun = [\"a\"]", "f:3:1: job.a.run: cannot stand beside shell; keep one of run and shell"},
      {"http = { url = \"x\" }", "f:2:1: job.a.http: not in this version yet; remove it"},
  };
  for (const auto& [line, said] : table) EXPECT_EQ(mistakes("[job.a]\n" + std::string(line) + "\n"), lines{said});
}

TEST(mistakes, between_keys_of_a_job) {
  const one_line table[] = {
      {"every = \"1s\"\ncron = \"* * * * *\"", "f:4:1: job.a.cron: cannot stand beside every; keep one of every, cron and at"},
      {"at = 2030-01-01T00:00:00Z\nevery = \"1s\"",
       "f:4:1: job.a.every: cannot stand beside at; keep one of every, cron and at"},
      {"from = \"grid\"", "f:3:1: job.a.from: says what `every` counts from, and there is no every; remove it"},
      {"every = \"1s\"\noverlap = \"skip\"",
       "f:4:1: job.a.overlap: has no meaning with from = \"end\", where runs follow one another; remove it, or write from = "
       "\"grid\""},
      {"every = \"1s\"\nmisfire = \"skip\"\nfrom = \"start\"",
       "f:4:1: job.a.misfire: has no meaning with from = \"start\", where runs follow one another; remove it, or write from = "
       "\"grid\""},
  };
  for (const auto& [line, said] : table) EXPECT_EQ(in_job(line), said);
  EXPECT_EQ(
      mistakes("[job.a]\nrun = [\"true\"]\nevery = \"1s\"\nfrom = \"grid\"\noverlap = \"queue_one\"\nmisfire = \"skip\"\n"),
      lines{});
}

TEST(mistakes, in_templates) {
  const std::string said = in_job("env = { A = \"x ${nope}\" }");
  EXPECT_EQ(said.rfind("f:3:13: job.a.env.A: column 3 of the text: ", 0), 0U) << said;
}

TEST(mistakes, in_the_tables_of_the_file) {
  const one_line table[] = {
      {"config_version = 2", "f:1:18: config_version: is 2; this version knows only 1"},
      {"config_version = \"1\"", "f:1:18: config_version: is a string; write a whole number, as in 3"},
      {"include = []", "f:1:1: include: not in this version yet; remove it"},
      {"[cluster]\nengine = \"postgres\"", "f:1:2: cluster: not in this version yet; remove it"},
      {"[pools]\ndb = 4", "f:1:2: pools: not in this version yet; remove it"},
      {"[servce]", "f:1:2: servce: unknown key; did you mean service?"},
      {"[jobs.a]\nrun = [\"x\"]", "f:1:2: jobs: unknown key; did you mean job?"},
      {"max_running = 3", "f:1:1: max_running: unknown key; it stands in [service]"},
      {"colour = 3", "f:1:1: colour: unknown key; known here are config_version, service, history, defaults, job"},
      {"service = 3", "f:1:11: service: is an integer; write a table [service]"},
      {"[[defaults]]", "f:1:1: defaults: is a list; write a table [defaults]"},
      {"job = 3", "f:1:7: job: is an integer; write one table [job.NAME] for each job"},
      {"[job]\na = 3", "f:2:5: job.a: is an integer; write a table [job.a]"},
      {"[service]\ntimezone = \"Nowhere\"",
       "f:2:12: service.timezone: unknown time zone \"Nowhere\": not in the installed time zone database (letter case counts; "
       "is tzdata installed?)"},
      {"[service]\nmax_running = 0", "f:2:15: service.max_running: is 0; write a number from 1 to 100000"},
      {"[service]\nshutdown_grace = 30",
       "f:2:18: service.shutdown_grace: is an integer; write a duration in quotes with its unit, as in \"5m\" or \"1h30m\""},
      {"[service]\nlisten = []", "f:2:1: service.listen: not in this version yet; remove it"},
      {"[history]\ndurability = \"none\"", "f:2:14: history.durability: there is no \"none\"; write \"full\" or \"process\""},
      {"[history]\ndurability = 1", "f:2:14: history.durability: is an integer; write \"full\" or \"process\""},
      {"[history]\noutput_limit = 1024",
       "f:2:16: history.output_limit: is an integer; write a size in quotes with its unit, as in \"256KiB\""},
      {"[history]\noutput_limit = \"1GiB\"", "f:2:16: history.output_limit: \"1GiB\" is too large; write at most \"64MiB\""},
      {"[history]\nkeep = \"30d\"", "f:2:1: history.keep: not in this version yet; remove it"},
      {"[defaults]\nrun = [\"x\"]", "f:2:1: defaults.run: cannot stand in [defaults]; write it into the jobs it is meant for"},
      {"[defaults]\nevery = \"1s\"",
       "f:2:1: defaults.every: cannot stand in [defaults]; write it into the jobs it is meant for"},
      {"[defaults]\ntimeout = 5",
       "f:2:11: defaults.timeout: is an integer; write a duration in quotes with its unit, as in \"5m\" or \"1h30m\""},
      {"[defaults]\nretry = { max = -1 }", "f:2:17: defaults.retry.max: is -1; write a number from 0 to 1000000"},
  };
  for (const auto& [text, said] : table) EXPECT_EQ(mistakes(std::string(text) + "\n"), lines{said});
}

TEST(mistakes, in_names_of_jobs) {
  for (const char* name : {"\"\"", "\"a b\"", "_a", "\"\\n\"", "-a"}) {
    const auto said = mistakes(std::string("[job.") + name + "]\nrun = [\"x\"]\n");
    ASSERT_EQ(said.size(), 1U) << name;
    EXPECT_EQ(said[0], std::string("f:1:6: job.") + name +
                           ": no name for a job; write 1 to 64 letters, digits, '.', '_' or '-', the first a letter or digit");
  }
  EXPECT_EQ(mistakes("[job.\"a.b\"]\nrun = [\"x\"]\nevery = 1\n")[0].rfind("f:3:9: job.\"a.b\".every: ", 0), 0U);
}

TEST(mistakes, come_out_all_at_once_in_the_order_of_the_file) {
  EXPECT_EQ(mistakes("[job.b]\nrun = 1\nevery = 1\n[service]\nmax_running = 0\n[job.a]\nshel = 1\n").size(), 5U);
  const auto said = mistakes("[job.b]\nrun = 1\nevery = 1\n[service]\nmax_running = 0\n[job.a]\nshel = 1\n");
  EXPECT_EQ(said[0].substr(0, 6), "f:2:7:");
  EXPECT_EQ(said[1].substr(0, 6), "f:3:9:");
  EXPECT_EQ(said[2].substr(0, 7), "f:5:15:");
  EXPECT_EQ(said[3], "f:6:6: job.a: has nothing to run; write run = [\"program\", \"argument\"] or shell = \"line\"");
  EXPECT_EQ(said[4], "f:7:1: job.a.shel: unknown key; did you mean shell?");
}

TEST(mistakes, of_the_toml_itself_stand_alone) {
  const std::pair<const char*, const char*> table[] = {
      {"[job.a]\nrun = [\"x\"\nevery = 1\n", "f:3:"},
      {"[job.a]\n[job.a]\n", "f:2:"},
      {"a = 1\na = 2\n", "f:2:"},
      {"x = \"\n", "f:1:"},
      {"at = 2030-02-30T00:00:00Z\n", "f:1:"},
      {"x = 99999999999999999999\n", "f:1:"},
  };
  for (const auto& [text, place] : table) {
    const auto said = mistakes(text);
    ASSERT_EQ(said.size(), 1U) << text;
    EXPECT_EQ(said[0].rfind(place, 0), 0U) << said[0];
    EXPECT_NE(said[0].find(": not TOML: "), std::string::npos) << said[0];
  }
}

TEST(mistakes, of_a_text_without_quotes_are_told_what_would_be_right) {
  const one_line table[] = {
      {"every = 5m", "; a text value needs quotes, as in every = \"5m\""},
      {"cron = 0 3 * * *", "; a text value needs quotes, as in cron = \"0 3 * * *\""},
      {"cron = */5 * * * *  # often", "; a text value needs quotes, as in cron = \"*/5 * * * *\""},
      {"timezone = Europe/Berlin", "; a text value needs quotes, as in timezone = \"Europe/Berlin\""},
  };
  for (const auto& [line, advice] : table) {
    const std::string said = in_job(line);
    EXPECT_EQ(said.rfind("f:3:", 0), 0U) << said;
    EXPECT_NE(said.find(": not TOML: Error while parsing"), std::string::npos) << said;
    EXPECT_EQ(said.substr(said.size() - std::min(said.size(), std::string(advice).size())), advice);
  }
  for (const char* line : {"at = 2030-02-30T00:00:00Z", "x = 99999999999999999999", "run = [\"a\" \"b\"]", "x = \"a\" b"})
    EXPECT_EQ(in_job(line).find("needs quotes"), std::string::npos) << in_job(line);
}

TEST(mistakes, of_a_name_given_twice_say_where_it_was_first) {
  EXPECT_EQ(mistakes("[job.a]\nrun = [\"x\"]\n[job.b]\n[job.a] # again\n"),
            lines{"f:4:1: job.a: not TOML: it is defined twice, first in line 1; give one of them another name, or keep one"});
  EXPECT_EQ(mistakes("[job.b]\nevery = \"1s\"\n[job.a]\nevery = \"1s\"\nevery = \"2s\"\n").at(0).substr(0, 4), "f:5:");
  const std::string said = mistakes("[job.b]\nevery = \"1s\"\n[job.a]\nevery = \"1s\"\nevery = \"2s\"\n").at(0);
  EXPECT_NE(said.find("every: not TOML: it is defined twice, first in line 4; "), std::string::npos) << said;
}

TEST(mistakes, of_names_that_other_schedulers_have_are_translated) {
  const one_line table[] = {
      {"interval = \"5m\"", "write every, as in every = \"5m\""},
      {"schedule = \"0 3 * * *\"", "write cron, as in cron = \"0 3 * * *\", or every"},
      {"tz = \"UTC\"", "write timezone, as in timezone = \"Europe/Berlin\""},
      {"command = \"date\"", "write run, as in run = [\"date\", \"-u\"], or shell"},
      {"cmd = \"date\"", "write run, as in run = [\"date\", \"-u\"], or shell"},
      {"concurrency = 1", "a job runs once at a time; overlap says what happens to the slots meanwhile"},
      {"retries = 3", "write retry, as in retry = { max = 3 }"},
      {"cwd = \"/\"", "write workdir, as in workdir = \"/srv/report\""},
  };
  for (const auto& [line, advice] : table) {
    const std::string key(line, std::string_view(line).find(' '));
    EXPECT_EQ(in_job(line), "f:3:1: job.a." + key + ": unknown key; " + advice);
  }
}

TEST(mistakes, of_a_key_in_the_wrong_table_say_at_once_that_it_is_of_a_later_version) {
  EXPECT_EQ(mistakes("[service]\nhttp = {}\n"),
            lines{"f:2:1: service.http: unknown key; it stands in [job.NAME], and is not in this version yet"});
}

TEST(mistakes, of_the_encoding_have_their_place) {
  EXPECT_EQ(mistakes("# \xC3\xA4\xFC\n"), lines{"f:1:4: byte 0xFC is not UTF-8; save the file as UTF-8"});
  EXPECT_EQ(mistakes("a = 1\n\xC3("), lines{"f:2:1: byte 0xC3 is not UTF-8; save the file as UTF-8"});
  EXPECT_EQ(mistakes("\xED\xA0\x80"), lines{"f:1:1: byte 0xED is not UTF-8; save the file as UTF-8"});  // a surrogate
  EXPECT_EQ(mistakes("\xC0\x80"), lines{"f:1:1: byte 0xC0 is not UTF-8; save the file as UTF-8"});      // too long
  EXPECT_EQ(mistakes(std::string("\xFF\xFEj\0", 4)), lines{"f:1:1: the file is UTF-16; save it as UTF-8"});
}

TEST(mistakes, columns_count_characters) {
  EXPECT_EQ(mistakes("[job.a]\nrun = [\"\xC3\xA4\xE2\x82\xAC\", 5]\n"),
            lines{"f:2:14: job.a.run: is a list with an integer in it; write a list of strings, as in [\"date\", \"-u\"]"});
}

TEST(key_table, every_key_of_a_later_version_is_refused_where_it_stands) {
  for (const auto& row : key_table()) {
    if (row.stage <= current_stage) continue;
    const std::string key(row.name), value = row.default_value.empty() ? "{}" : std::string(row.default_value);
    std::string text, path = key;
    if (row.place == "job") {
      text = "[job.a]\nrun = [\"x\"]\n";
      path = "job.a." + key;
    } else if (row.place == "job.retry") {
      text = "[job.a]\nrun = [\"x\"]\n[job.a.retry]\n";
      path = "job.a.retry." + key;
    } else if (!row.place.empty()) {
      text = "[" + std::string(row.place) + "]\n";
      path = std::string(row.place) + "." + key;
    }
    const auto line = std::to_string(1 + std::count(text.begin(), text.end(), '\n'));
    EXPECT_EQ(mistakes(text + key + " = " + value + "\n"),
              lines{"f:" + line + ":1: " + path + ": not in this version yet; remove it"});
  }
}

TEST(key_table, every_key_of_the_defaults_may_stand_there_and_no_other) {
  for (const auto& row : key_table()) {
    if (row.place != "job" || row.stage > current_stage || row.kind == value_kind::nested) continue;
    const std::string value = row.default_value.empty() ? "\"\"" : std::string(row.default_value);
    const auto said = mistakes("[defaults]\n" + std::string(row.name) + " = " + value + "\n");
    const bool refused = !said.empty() && said[0].find("cannot stand in [defaults]") != std::string::npos;
    EXPECT_EQ(refused, !row.in_defaults) << row.name;
  }
}

TEST(key_table, has_each_key_once_with_help) {
  for (const auto& row : key_table()) {
    EXPECT_EQ(find_key(row.place, row.name), &row) << row.place << " " << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_EQ(row.stage > current_stage, row.kind == value_kind::later) << row.name;
  }
}

}  // namespace
}  // namespace looptask::service
