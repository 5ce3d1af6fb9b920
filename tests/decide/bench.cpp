#include "decide/bench.hpp"

#include <gtest/gtest.h>

#include "schedule/series.hpp"
#include "schedule/trigger_text.hpp"

namespace looptask::schedule {
namespace {

std::string number(instant when) {
  const microseconds since = when - bench_origin;
  const bool whole = since % std::chrono::milliseconds(1) == microseconds(0);
  return whole ? std::to_string(since / std::chrono::milliseconds(1)) : std::to_string(since.count()) + "us";
}

std::string name(const slot_id& id) {
  return (id.kind == run_kind::manual ? "manual " : "") + number(id.nominal) +
         (id.epoch > 0 ? "/" + std::to_string(id.epoch) : std::string());
}

std::string with_cause(cause why) { return why == cause::none ? "" : " " + std::string(to_string(why)); }

std::string reason_text(stop_reason why) {
  switch (why) {
    case stop_reason::timeout:
      return "timeout";
    case stop_reason::cancelled:
      return "cancelled";
    case stop_reason::removed:
      return "removed";
    case stop_reason::shutdown:
      break;
  }
  return "shutdown";
}

// An empty line is left out: attempts ends and clock notes are seen in what follows from them.
struct describer {
  std::string operator()(const open_run& d) const { return "open " + name(d.what.id); }
  std::string operator()(const open_attempt& d) const { return "open " + name(d.run) + "#" + std::to_string(d.n); }
  std::string operator()(const note_started&) const { return {}; }
  std::string operator()(const stop_attempt& d) const {
    return "stop " + name(d.run) + "#" + std::to_string(d.n) + " " + reason_text(d.why);
  }
  std::string operator()(const close_attempt&) const { return {}; }
  std::string operator()(const plan_retry& d) const {
    return "retry " + name(d.run) + "#" + std::to_string(d.failed) + " at " + number(d.at);
  }
  std::string operator()(const close_run& d) const {
    return "end " + name(d.run) + " " + std::string(to_string(d.result)) + " at " + number(d.at) + with_cause(d.why);
  }
  std::string operator()(const hold_slot& d) const { return "hold " + name(d.what.id) + with_cause(d.why); }
  std::string operator()(const close_slots& d) const {
    const std::string range = d.count == 1 ? "" : ".." + number(d.last) + " x" + std::to_string(d.count);
    return std::string(to_string(d.outcome)) + " " + name(d.first.id) + range + with_cause(d.why);
  }
  std::string operator()(const rejudge& d) const {
    return "rejudge after " + number(d.watermark) + " anchor " + number(d.anchor) + " epoch " + std::to_string(d.epoch);
  }
  std::string operator()(const set_paused& d) const { return d.paused ? "pause" : "resume"; }
  std::string operator()(const note_wall&) const { return {}; }
};

void expect_sound(const job_state& before, const verdict& v, const facts& now) {
  job_state folded = before;
  for (const decision& d : v.decisions) apply_decision(folded, d);
  EXPECT_EQ(folded, v.after) << "the new state is not the fold of the decisions";
  if (now.scope != scope::all) return;
  EXPECT_TRUE(!v.wake_elapsed || *v.wake_elapsed > now.elapsed);
  EXPECT_TRUE(!v.wake_wall || *v.wake_wall > now.wall);
}

}  // namespace

job_definition every(std::int64_t interval_ms, interval_from from, std::int64_t initial_delay_ms) {
  job_definition d;
  d.name = "job";
  d.trigger = every_trigger{ms(interval_ms), from, ms(initial_delay_ms)};
  d.misfire_grace = ms(0);
  d.retry.jitter = 0;
  return d;
}

job_definition cron(std::string_view expression) {
  job_definition d = every(1, interval_from::end);
  d.trigger = trigger_of(cron_expression::parse(expression).value(), zone::utc());
  return d;
}

job_definition at(std::int64_t when_ms) {
  job_definition d = every(1, interval_from::end);
  d.trigger = at_trigger{at_ms(when_ms)};
  return d;
}

job_definition by_hand() {
  job_definition d = every(1, interval_from::end);
  d.trigger = std::monostate{};
  return d;
}

lines describe(const std::vector<decision>& decisions) {
  lines all;
  for (const decision& d : decisions) {
    if (std::string line = std::visit(describer{}, d); !line.empty()) all.push_back(std::move(line));
  }
  return all;
}

bench::bench(job_definition definition, std::int64_t created_ms)
    : definition_(std::move(definition)), state_(new_state(definition_, at_ms(created_ms), at_ms(created_ms))) {}

lines bench::at(std::int64_t now_ms) {
  facts now = std::move(told_);
  told_ = {};
  now.elapsed = at_ms(now_ms);
  now.wall = wall(now_ms);
  now.room = room;
  now.wall_plausible = plausible;
  const job_state before = state_;
  last_ = decide(definition_, state_, now);
  expect_sound(before, last_, now);
  state_ = last_.after;
  const std::vector<active_run> active = state_.active;
  for (const active_run& run : active) {
    if (run.phase == run_phase::claimed && begins)
      apply_decision(state_, note_started{run.what.id, run.attempt, at_ms(now_ms)});
  }
  return describe(last_.decisions);
}

bench& bench::ended(std::int64_t nominal_ms, std::int64_t when_ms, run_result result, std::uint32_t n) {
  for (const active_run& run : state_.active) {
    if (run.what.id.nominal == at_ms(nominal_ms)) {
      told_.ended.push_back({.run = run.what.id, .n = n, .result = result, .at = at_ms(when_ms)});
      return *this;
    }
  }
  ADD_FAILURE() << "no run of " << nominal_ms << " is active";
  return *this;
}

bench& bench::wall_jumped(std::int64_t by_ms, std::int64_t now_ms) {
  const instant before = wall(now_ms);
  wall_offset_ += ms(by_ms);
  told_.steps.push_back({before, wall(now_ms)});
  return *this;
}

bench& bench::down(std::int64_t until_ms, std::int64_t last_sign_of_life_ms) {
  told_.revived = at_ms(last_sign_of_life_ms);
  told_.outages.push_back({instant::min(), by_wall() ? wall(until_ms) : at_ms(until_ms), cause::down, true});
  return *this;
}

bench& bench::stalled(std::int64_t from_ms, std::int64_t until_ms) {
  told_.outages.push_back(
      {by_wall() ? wall(from_ms) : at_ms(from_ms), by_wall() ? wall(until_ms) : at_ms(until_ms), cause::stalled, false});
  return *this;
}

bench& bench::asked(std::string run_id, std::vector<instant> taken) {
  told_.requests.push_back({std::move(run_id), std::move(taken)});
  return *this;
}

lines bench::edit(job_definition definition, std::int64_t now_ms) {
  const job_state before = state_;
  last_ = revise(&definition_, trigger_text(definition_), definition, state_, at_ms(now_ms), wall(now_ms));
  job_state folded = before;
  for (const decision& d : last_.decisions) apply_decision(folded, d);
  EXPECT_EQ(folded, last_.after);
  state_ = last_.after;
  definition_ = std::move(definition);
  return describe(last_.decisions);
}

}  // namespace looptask::schedule
