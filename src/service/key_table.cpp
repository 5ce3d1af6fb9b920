#include "service/key_table.hpp"

#include <array>

#include "service/byte_size.hpp"
#include "service/duration.hpp"

namespace looptask::service {
namespace {

constexpr std::int64_t ms = 1'000;
constexpr std::int64_t longest = longest_duration.count();
using enum value_kind;

// One row, one or two lines.
// clang-format off
constexpr auto rows = std::to_array<key_row>({
    {.place = "", .name = "config_version", .kind = integer, .default_value = "1", .minimum = 1, .maximum = 1,
     .help = "version of this grammar"},
    {.place = "", .name = "service", .kind = nested, .help = "the service as a whole"},
    {.place = "", .name = "history", .kind = nested, .help = "what is kept of past runs"},
    {.place = "", .name = "defaults", .kind = nested, .help = "values for all jobs that do not say otherwise"},
    {.place = "", .name = "job", .kind = nested, .help = "the jobs, one table [job.NAME] each"},
    {.place = "", .name = "include", .default_value = "[]", .stage = 6, .help = "further files, as globs"},
    {.place = "", .name = "pools", .stage = 4, .help = "limits shared by jobs"},
    {.place = "", .name = "groups", .stage = 4, .help = "circuit breakers and retry budgets shared by jobs"},
    {.place = "", .name = "alerts", .stage = 6, .help = "whom to tell what"},
    {.place = "", .name = "cluster", .stage = 8, .help = "several machines"},

    {.place = "service", .name = "timezone", .kind = zone, .default_value = "\"UTC\"",
     .help = "zone of cron and at where a job names none"},
    {.place = "service", .name = "max_running", .kind = integer, .default_value = "64", .minimum = 1, .maximum = 100'000,
     .help = "runs at the same time, all jobs together"},
    {.place = "service", .name = "shutdown_grace", .kind = duration, .default_value = "\"30s\"", .maximum = longest,
     .help = "how long running jobs may go on after the first SIGINT or SIGTERM"},
    {.place = "service", .name = "listen", .default_value = "[\"unix:control.sock\"]", .stage = 3, .help = "where to answer"},
    {.place = "service", .name = "auth_token", .stage = 6, .help = "the first administrator's token"},
    {.place = "service", .name = "tls", .stage = 6, .help = "certificate and key"},
    {.place = "service", .name = "behind_proxy", .default_value = "[]", .stage = 6, .help = "trusted proxies"},
    {.place = "service", .name = "hosts", .stage = 6, .help = "allowed Host names"},
    {.place = "service", .name = "api_commands", .default_value = "false", .stage = 6,
     .help = "may the API create or edit commands"},
    {.place = "service", .name = "reload", .default_value = "\"watch\"", .stage = 6, .help = "when to read the file again"},
    {.place = "service", .name = "log_level", .default_value = "\"info\"", .stage = 6, .help = "how much to log"},
    {.place = "service", .name = "ping", .stage = 6, .help = "URL to call as a sign of life"},
    {.place = "service", .name = "base_path", .default_value = "\"\"", .stage = 7,
     .help = "path below which the dashboard stands"},
    {.place = "service", .name = "loop_stall_warn", .default_value = "\"100ms\"", .stage = 3,
     .help = "blocked for how long is worth a warning"},
    {.place = "service", .name = "timer_slack", .default_value = "\"0ms\"", .stage = 2,
     .help = "lateness allowed to save wake-ups"},
    {.place = "service", .name = "catch_up_rate", .default_value = "\"10/1s\"", .stage = 4, .help = "starts of catch-up runs"},

    {.place = "history", .name = "durability", .kind = choice, .default_value = "\"full\"", .choices = "full|process",
     .help = "what the history survives: power loss, or the death of the process only"},
    {.place = "history", .name = "output_limit", .kind = size, .default_value = "\"256KiB\"", .maximum = 64 * 1024 * 1024,
     .help = "bytes kept of an attempt's output: its head and its tail, half each"},
    {.place = "history", .name = "keep", .default_value = "\"30d\"", .stage = 4, .help = "age of the oldest runs"},
    {.place = "history", .name = "keep_runs_per_job", .default_value = "1000", .stage = 4, .help = "number of runs"},
    {.place = "history", .name = "max_size", .stage = 6, .help = "size of the history on disk"},

    {.place = "job", .name = "every", .kind = duration, .minimum = ms, .maximum = longest,
     .help = "run again and again with this interval"},
    {.place = "job", .name = "cron", .kind = cron, .help = "run when the wall clock matches"},
    {.place = "job", .name = "at", .kind = instant, .help = "run once, at this time"},
    {.place = "job", .name = "triggers", .stage = 4, .help = "several schedules for one job"},
    {.place = "job", .name = "from", .kind = choice, .default_value = "\"end\"", .choices = "end|start|grid",
     .help = "what `every` counts from: the end or the start of the run before, or a fixed grid"},
    {.place = "job", .name = "anchor", .default_value = "\"first_start\"", .stage = 4, .help = "where the grid begins"},
    {.place = "job", .name = "initial_delay", .default_value = "\"0s\"", .stage = 4, .help = "wait before the first run"},
    {.place = "job", .name = "clock", .default_value = "\"elapsed\"", .stage = 4, .help = "does `every` count during suspend"},
    {.place = "job", .name = "on_month_end", .default_value = "\"clamp\"", .stage = 4, .help = "months without that day"},
    {.place = "job", .name = "timezone", .kind = zone, .in_defaults = true,
     .help = "zone of cron and at; the service's if absent"},
    {.place = "job", .name = "dst", .default_value = "\"vixie\"", .stage = 4, .in_defaults = true,
     .help = "missing and repeated wall-clock times"},
    {.place = "job", .name = "exclude", .default_value = "[]", .stage = 4, .help = "dates without runs"},
    {.place = "job", .name = "valid_from", .stage = 4, .help = "no slots before"},
    {.place = "job", .name = "valid_until", .stage = 4, .help = "no slots from then on"},
    {.place = "job", .name = "max_runs", .stage = 4, .help = "finished after so many runs"},
    {.place = "job", .name = "splay", .default_value = "\"0s\"", .stage = 4, .in_defaults = true,
     .help = "constant shift, different for each job"},
    {.place = "job", .name = "jitter", .default_value = "\"0s\"", .stage = 4, .in_defaults = true,
     .help = "random shift of each slot"},
    {.place = "job", .name = "run", .kind = argv, .help = "the program and its arguments; no shell"},
    {.place = "job", .name = "shell", .kind = shell, .help = "a line for /bin/sh -c"},
    {.place = "job", .name = "http", .stage = 3, .help = "an HTTP request"},
    {.place = "job", .name = "sql", .stage = 6, .help = "an SQL statement"},
    {.place = "job", .name = "handler", .stage = 6, .help = "a function of the program that links LoopTask"},
    {.place = "job", .name = "on_success", .default_value = "[]", .stage = 4, .help = "jobs to run after success"},
    {.place = "job", .name = "on_failure", .default_value = "[]", .stage = 4, .help = "jobs to run after failure"},
    {.place = "job", .name = "after", .default_value = "[]", .stage = 4, .help = "run when all of these have succeeded"},
    {.place = "job", .name = "timeout", .kind = duration, .in_defaults = true, .minimum = ms, .maximum = longest,
     .help = "longest time for one attempt; it is stopped then"},
    {.place = "job", .name = "deadline", .stage = 4, .in_defaults = true,
     .help = "longest time for a run with all its attempts"},
    {.place = "job", .name = "start_deadline", .stage = 4, .in_defaults = true,
     .help = "not started later than this after due"},
    {.place = "job", .name = "max_wait", .stage = 4, .in_defaults = true, .help = "longest wait for a limit"},
    {.place = "job", .name = "warn_after", .stage = 4, .in_defaults = true, .help = "say so when a run takes longer"},
    {.place = "job", .name = "stop_signal", .kind = signal, .default_value = "\"SIGTERM\"", .in_defaults = true,
     .help = "how an attempt is asked to stop"},
    {.place = "job", .name = "kill_after", .kind = duration, .default_value = "\"10s\"", .in_defaults = true,
     .maximum = longest, .help = "from the stop signal to SIGKILL; at a shutdown 3s at most"},
    {.place = "job", .name = "retry", .kind = nested, .in_defaults = true, .help = "further attempts after a failed one"},
    {.place = "job", .name = "overlap", .kind = choice, .default_value = "\"skip\"", .in_defaults = true,
     .choices = "skip|queue_one", .later_choices = "queue_latest|queue_all|cancel_previous|allow",
     .help = "a slot comes due while an earlier run goes on"},
    {.place = "job", .name = "max_instances", .stage = 4,
     .help = "runs of this job at the same time, with overlap = \"allow\""},
    {.place = "job", .name = "queue_limit", .default_value = "100", .stage = 4, .help = "slots that may wait"},
    {.place = "job", .name = "misfire", .kind = choice, .default_value = "\"run_once\"", .in_defaults = true,
     .choices = "skip|run_once", .later_choices = "run_all", .help = "slots passed while the service was down or stalled"},
    {.place = "job", .name = "misfire_grace", .default_value = "\"1s\"", .stage = 4, .in_defaults = true,
     .help = "late up to here is not missed"},
    {.place = "job", .name = "misfire_window", .stage = 4, .help = "missed slots older than this are never run"},
    {.place = "job", .name = "catch_up_limit", .default_value = "100", .stage = 4, .help = "missed slots to run at most"},
    {.place = "job", .name = "resume", .default_value = "\"next\"", .stage = 4, .help = "slots passed during a pause"},
    {.place = "job", .name = "pool", .stage = 4, .in_defaults = true, .help = "shared limits this job counts against"},
    {.place = "job", .name = "priority", .default_value = "5", .stage = 4, .in_defaults = true,
     .help = "who starts first when there is little room"},
    {.place = "job", .name = "policy_group", .stage = 4, .in_defaults = true, .help = "shared breaker and retry budget"},
    {.place = "job", .name = "circuit_breaker", .stage = 4, .in_defaults = true,
     .help = "pause for a while after failures in a row"},
    {.place = "job", .name = "pause_after", .stage = 4, .in_defaults = true, .help = "pause after so many failures in a row"},
    {.place = "job", .name = "success_codes", .kind = exit_codes, .default_value = "[0]", .in_defaults = true,
     .help = "exit codes that are success; a signal never is"},
    {.place = "job", .name = "workdir", .kind = directory, .in_defaults = true,
     .help = "folder to run in; relative to the file's folder, which it is if absent"},
    {.place = "job", .name = "env", .kind = environment, .default_value = "{}", .in_defaults = true,
     .help = "environment variables; values may hold ${...}"},
    {.place = "job", .name = "env_inherit", .kind = patterns, .default_value = "[]", .in_defaults = true,
     .help = "variables, or globs of them, copied from the service"},
    {.place = "job", .name = "user", .stage = 6, .in_defaults = true, .help = "user to run as"},
    {.place = "job", .name = "group", .stage = 6, .in_defaults = true, .help = "group to run as"},
    {.place = "job", .name = "umask", .default_value = "\"022\"", .stage = 6, .in_defaults = true,
     .help = "permissions of new files"},
    {.place = "job", .name = "stdin", .stage = 6, .help = "what the program reads; /dev/null if absent"},
    {.place = "job", .name = "limits", .stage = 6, .in_defaults = true, .help = "memory, CPU and other limits"},
    {.place = "job", .name = "sandbox", .default_value = "\"none\"", .stage = 6, .in_defaults = true,
     .help = "what the program may touch"},
    {.place = "job", .name = "enabled", .kind = boolean, .default_value = "true",
     .help = "false: the job is known but has no slots"},
    {.place = "job", .name = "description", .kind = string, .default_value = "\"\"", .help = "for people"},
    {.place = "job", .name = "tags", .default_value = "[]", .stage = 6, .help = "for selecting jobs"},
    {.place = "job", .name = "owner", .default_value = "\"\"", .stage = 6, .help = "who to ask"},
    {.place = "job", .name = "alert", .stage = 6, .in_defaults = true, .help = "which alerts hear of it"},
    {.place = "job", .name = "ping", .stage = 6, .help = "URL to call after each run"},

    {.place = "job.retry", .name = "max", .kind = integer, .default_value = "0", .in_defaults = true, .maximum = 1'000'000,
     .help = "attempts after the first"},
    {.place = "job.retry", .name = "backoff", .kind = choice, .default_value = "\"exponential\"", .in_defaults = true,
     .choices = "fixed|linear|exponential",
     .help = "how the wait grows: delay, delay x n, or delay x factor^(n-1) before retry n"},
    {.place = "job.retry", .name = "delay", .kind = duration, .default_value = "\"1s\"", .in_defaults = true,
     .maximum = longest, .help = "wait before the first retry, from the end of the failed attempt"},
    {.place = "job.retry", .name = "factor", .kind = integer, .default_value = "2", .in_defaults = true, .minimum = 1,
     .maximum = 1'000, .help = "of the exponential backoff"},
    {.place = "job.retry", .name = "max_delay", .kind = duration, .default_value = "\"1m\"", .in_defaults = true,
     .maximum = longest, .help = "no wait is longer, jitter aside"},
    {.place = "job.retry", .name = "jitter", .kind = number, .default_value = "0.1", .in_defaults = true, .maximum = 1,
     .help = "each wait grows by a random part of itself, up to this"},
    {.place = "job.retry", .name = "retry_on", .stage = 4, .in_defaults = true, .help = "which failures are retried"},
    {.place = "job.retry", .name = "fatal_on", .stage = 4, .in_defaults = true, .help = "which failures are never retried"},
    {.place = "job.retry", .name = "on_next_fire", .default_value = "\"hold\"", .stage = 4, .in_defaults = true,
     .help = "a slot comes due during the wait"},
    {.place = "job.retry", .name = "interrupted", .default_value = "false", .stage = 4, .in_defaults = true,
     .help = "retry runs cut off by a crash"},
});
// clang-format on

template <class Visit>
void for_each_choice(std::string_view choices, Visit visit) {
  while (!choices.empty()) {
    const auto end = choices.find('|');
    visit(choices.substr(0, end), end == std::string_view::npos);
    choices = end == std::string_view::npos ? std::string_view() : choices.substr(end + 1);
  }
}

std::string bounds_in_words(const key_row& row) {
  const auto as_text = [&](std::int64_t n) {
    return row.kind == duration ? print_duration(microseconds(n)) : row.kind == size ? print_size(n) : std::to_string(n);
  };
  if (row.kind == size) return row.maximum == INT64_MAX ? "" : ", at most " + as_text(row.maximum);
  if (row.minimum == 0 && row.maximum >= longest) return "";
  if (row.maximum >= longest) return ", at least " + as_text(row.minimum);
  return row.minimum == row.maximum ? "" : ", " + as_text(row.minimum) + " to " + as_text(row.maximum);
}

std::string place_in_words(std::string_view place) {
  if (place.empty()) return "";
  if (place == "job") return "job.NAME.";
  if (place == "job.retry") return "job.NAME.retry.";
  return std::string(place) + ".";
}

}  // namespace

std::span<const key_row> key_table() noexcept { return rows; }

const key_row* find_key(std::string_view place, std::string_view name) noexcept {
  for (const auto& row : rows)
    if (row.place == place && row.name == name) return &row;
  return nullptr;
}

bool has_choice(std::string_view choices, std::string_view text) noexcept {
  bool found = false;
  for_each_choice(choices, [&](std::string_view part, bool) { found = found || part == text; });
  return found;
}

std::string choices_in_words(std::string_view choices) {
  std::string words;
  for_each_choice(choices, [&](std::string_view part, bool last) {
    if (!words.empty()) words += last ? " or " : ", ";
    words += '"' + std::string(part) + '"';
  });
  return words;
}

std::string type_in_words(const key_row& row) {
  switch (row.kind) {
    case boolean:
      return "true or false";
    case integer:
      return "integer" + bounds_in_words(row);
    case number:
      return "number" + bounds_in_words(row);
    case string:
      return "string";
    case duration:
      return "duration" + bounds_in_words(row);
    case size:
      return "size" + bounds_in_words(row);
    case choice:
      return choices_in_words(row.choices);
    case zone:
      return "zone";
    case cron:
      return "cron expression";
    case instant:
      return "date with time";
    case argv:
      return "list of strings";
    case shell:
      return "string";
    case signal:
      return "signal name";
    case exit_codes:
      return "list of integers, 0 to 255";
    case directory:
      return "path";
    case patterns:
      return "list of strings";
    case environment:
      return "table of strings";
    case nested:
      return "table";
    case later:
      break;
  }
  return "";
}

std::string key_table_as_markdown() {
  std::string text = "| key | type | default | what it is |\n|---|---|---|---|\n";
  for (const auto& row : rows) {
    if (row.stage > current_stage) continue;
    text += "| `" + place_in_words(row.place) + std::string(row.name) + "`" + (row.in_defaults ? " *d*" : "") + " | " +
            type_in_words(row) + " | " + (row.default_value.empty() ? "" : "`" + std::string(row.default_value) + "`") + " | " +
            std::string(row.help) + " |\n";
  }
  return text;
}

}  // namespace looptask::service
