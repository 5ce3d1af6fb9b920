#include <array>
#include <initializer_list>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/scenario.hpp"
#include "schedule/cron.hpp"
#include "schedule/instant_text.hpp"
#include "schedule/series.hpp"

namespace looptask::cli {
namespace {

using nlohmann::json;

// Leaves read_scenario() as an error.
struct malformed : std::runtime_error {
  using runtime_error::runtime_error;
};

constexpr std::int64_t longest_ms = std::int64_t{1} << 42;  // some 139 years

void only_keys(const json& object, const std::string& where, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) throw malformed(where + ": an object is wanted");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw malformed(fmt::format("{}: unknown key \"{}\"", where, key));
  }
}

const json& wanted(const json& object, const std::string& where, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw malformed(where + ": the key \"" + key + "\" is missing");
  return *found;
}

std::int64_t integer(const json& object, const std::string& where, const char* key, std::int64_t least) {
  const json& value = wanted(object, where, key);
  if (!value.is_number_integer()) throw malformed(where + "." + key + ": whole milliseconds are wanted");
  const auto number = value.get<std::int64_t>();
  if (number < least || number > longest_ms || number < -longest_ms) {
    throw malformed(where + "." + key + ": " + std::to_string(number) + " is out of range, at least " + std::to_string(least) +
                    " is wanted");
  }
  return number;
}

microseconds milliseconds_of(const json& object, const std::string& where, const char* key, std::int64_t least = 0) {
  return std::chrono::milliseconds(integer(object, where, key, least));
}

std::string text(const json& object, const std::string& where, const char* key) {
  const json& value = wanted(object, where, key);
  if (!value.is_string()) throw malformed(where + "." + key + ": a string is wanted");
  return value.get<std::string>();
}

instant moment(const json& object, const std::string& where, const char* key) {
  const auto parsed = schedule::parse_instant(text(object, where, key));
  if (!parsed) throw malformed(where + "." + key + ": " + parsed.message());
  return parsed.value();
}

template <class Enum, std::size_t N>
Enum choice(const json& object, const char* key, const std::array<std::pair<std::string_view, Enum>, N>& choices) {
  const std::string given = text(object, "job", key);
  std::string names;
  for (const auto& [name, value] : choices) {
    if (name == given) return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw malformed(std::string("job.") + key + ": \"" + given + "\" is none of " + names);
}

void refuse_later_policies(const json& job) {
  for (const char* const key : {"misfire", "overlap"}) {
    if (!job.contains(key)) continue;
    const std::string given = text(job, "job", key);
    for (const std::string_view later : {"run_all", "queue_all", "cancel_previous", "allow"}) {
      if (given == later) throw malformed(std::string("job.") + key + ": \"" + given + "\" is not in this version yet");
    }
  }
}

schedule::trigger read_trigger(const json& job) {
  const std::string mode = text(job, "job", "mode");
  if (mode == "cron") {
    auto expression = schedule::cron_expression::parse(text(job, "job", "expr"));
    if (!expression) throw malformed("job.expr: " + expression.message());
    return schedule::trigger_of(std::move(expression).value(), schedule::zone::utc());
  }
  if (mode == "at") return schedule::at_trigger{moment(job, "job", "at")};
  schedule::every_trigger every;
  if (mode == "end") {
    every.from = schedule::interval_from::end;
  } else if (mode == "start") {
    every.from = schedule::interval_from::start;
  } else if (mode == "fixed_rate") {
    every.from = schedule::interval_from::grid;
  } else {
    throw malformed("job.mode: \"" + mode + "\" is none of end, start, fixed_rate, cron, at");
  }
  every.interval = milliseconds_of(job, "job", "interval", 1);
  if (job.contains("initial_delay")) every.initial_delay = milliseconds_of(job, "job", "initial_delay");
  return every;
}

schedule::retry_policy read_retry(const json& job) {
  schedule::retry_policy retry{.max = 0,
                               .backoff = schedule::backoff_kind::fixed,
                               .delay = microseconds(0),
                               .factor = 2,
                               .max_delay = microseconds::max(),
                               .jitter = 0};
  if (job.contains("retries")) retry.max = static_cast<std::uint32_t>(integer(job, "job", "retries", 0));
  if (!job.contains("backoff")) return retry;
  const json& backoff = job["backoff"];
  only_keys(backoff, "job.backoff", {"kind", "base", "factor", "max"});
  const std::string kind = text(backoff, "job.backoff", "kind");
  if (kind == "linear") {
    retry.backoff = schedule::backoff_kind::linear;
  } else if (kind == "exponential") {
    retry.backoff = schedule::backoff_kind::exponential;
  } else if (kind != "fixed") {
    throw malformed("job.backoff.kind: \"" + kind + "\" is none of fixed, linear, exponential");
  }
  retry.delay = milliseconds_of(backoff, "job.backoff", "base");
  if (backoff.contains("factor")) retry.factor = static_cast<std::uint32_t>(integer(backoff, "job.backoff", "factor", 1));
  if (backoff.contains("max")) retry.max_delay = milliseconds_of(backoff, "job.backoff", "max");
  return retry;
}

schedule::job_definition read_job(const json& job) {
  only_keys(job, "job",
            {"mode", "interval", "initial_delay", "expr", "at", "timeout", "retries", "backoff", "misfire", "overlap",
             "max_instances"});
  refuse_later_policies(job);
  schedule::job_definition definition;
  definition.name = "job";
  definition.trigger = read_trigger(job);
  definition.misfire = schedule::misfire_policy::skip;
  definition.misfire_grace = microseconds(0);  // virtual time is exact
  definition.retry = read_retry(job);
  if (job.contains("timeout")) definition.timeout = milliseconds_of(job, "job", "timeout", 1);
  if (job.contains("misfire")) {
    definition.misfire = choice(job, "misfire",
                                std::array{std::pair(std::string_view("skip"), schedule::misfire_policy::skip),
                                           std::pair(std::string_view("run_once"), schedule::misfire_policy::run_once)});
  }
  if (job.contains("overlap")) {
    definition.overlap = choice(job, "overlap",
                                std::array{std::pair(std::string_view("skip"), schedule::overlap_policy::skip),
                                           std::pair(std::string_view("queue_one"), schedule::overlap_policy::queue_one)});
  }
  return definition;
}

std::vector<scenario::work_step> read_work(const json& file) {
  const json& list = wanted(file, "scenario", "work");
  if (!list.is_array() || list.empty()) throw malformed("work: a list with at least one entry is wanted");
  std::vector<scenario::work_step> work;
  for (const json& entry : list) {
    only_keys(entry, "work", {"ms", "ok"});
    const json& ok = wanted(entry, "work", "ok");
    if (!ok.is_boolean()) throw malformed("work.ok: true or false is wanted");
    work.push_back({milliseconds_of(entry, "work", "ms"), ok.get<bool>()});
  }
  return work;
}

std::vector<scenario::event> read_events(const json& file) {
  std::vector<scenario::event> events;
  if (!file.contains("events")) return events;
  if (!file["events"].is_array()) throw malformed("events: a list is wanted");
  for (const json& entry : file["events"]) {
    only_keys(entry, "events", {"at", "down_until", "stall_until", "wall_jump"});
    if (entry.size() != 2) throw malformed("events: \"at\" and one of down_until, stall_until, wall_jump are wanted");
    scenario::event event;
    event.at = milliseconds_of(entry, "events", "at");
    if (entry.contains("wall_jump")) {
      event.what = scenario::event::kind::wall_jump;
      event.jump = milliseconds_of(entry, "events", "wall_jump", -longest_ms);
    } else {
      const bool down = entry.contains("down_until");
      event.what = down ? scenario::event::kind::down : scenario::event::kind::stall;
      event.until = milliseconds_of(entry, "events", down ? "down_until" : "stall_until");
      if (event.until <= event.at) throw malformed("events: what begins at \"at\" ends later than that");
    }
    events.push_back(event);
  }
  return events;
}

}  // namespace

result<scenario> read_scenario(std::string_view text_of_file) {
  try {
    const json file = json::parse(text_of_file);
    only_keys(file, "scenario", {"id", "kind", "title", "job", "work", "wall0", "events", "until", "expect"});
    scenario what;
    what.id = text(file, "scenario", "id");
    what.job = read_job(wanted(file, "scenario", "job"));
    what.work = read_work(file);
    what.events = read_events(file);
    what.until = milliseconds_of(file, "scenario", "until", 1);
    what.wall0 = instant(std::chrono::seconds(1735689600));  // 2025-01-01T00:00:00Z, where the wall clock does not matter
    if (file.contains("wall0")) {
      what.wall0 = moment(file, "scenario", "wall0");
    } else if (std::holds_alternative<schedule::cron_trigger>(what.job.trigger) ||
               std::holds_alternative<schedule::at_trigger>(what.job.trigger)) {
      throw malformed("scenario: the key \"wall0\" is missing, cron and at need it");
    }
    return what;
  } catch (const malformed& e) {
    return error{e.what()};
  } catch (const json::exception& e) {
    return error{std::string("no valid JSON: ") + e.what()};
  }
}

}  // namespace looptask::cli
