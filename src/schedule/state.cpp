#include "schedule/state.hpp"

#include <algorithm>

#include <looptask/assert.hpp>

#include "schedule/decision.hpp"
#include "schedule/series.hpp"

namespace looptask::schedule {
namespace {

std::vector<active_run>::iterator find_active(job_state& state, const slot_id& run) {
  const auto found =
      std::find_if(state.active.begin(), state.active.end(), [&](const active_run& r) { return r.what.id == run; });
  LOOPTASK_ASSERT(found != state.active.end(), "a decision about a run that is not active");
  return found;
}

std::vector<waiting_slot>::iterator find_waiting(job_state& state, const slot_id& slot) {
  return std::find_if(state.waiting.begin(), state.waiting.end(), [&](const waiting_slot& w) { return w.what.id == slot; });
}

void judge(job_state& state, const slot_id& first, instant last) {
  if (first.kind != run_kind::schedule) return;
  LOOPTASK_ASSERT(first.nominal > state.watermark && first.epoch == state.epoch, "a slot is decided twice");
  state.watermark = last;
}

struct applier {
  job_state& state;

  void operator()(const open_run& d) const {
    const auto waited = find_waiting(state, d.what.id);
    if (waited != state.waiting.end()) {
      state.waiting.erase(waited);
    } else {
      judge(state, d.what.id, d.what.id.nominal);
    }
    state.active.push_back({.what = d.what, .started = d.at, .attempt_started = d.at});
    if (d.what.id.kind == run_kind::schedule) state.last_start = d.at;
  }
  void operator()(const open_attempt& d) const {
    active_run& run = *find_active(state, d.run);
    LOOPTASK_ASSERT(run.phase == run_phase::backing_off && d.n == run.attempt + 1, "a retry out of order");
    run.attempt = d.n;
    run.phase = run_phase::claimed;
    run.attempt_started = d.at;
  }
  void operator()(const note_started& d) const {
    active_run& run = *find_active(state, d.run);
    LOOPTASK_ASSERT(run.phase == run_phase::claimed && d.n == run.attempt, "an attempt starts twice");
    run.phase = run_phase::going;
    run.attempt_started = d.at;
    if (d.n != 1) return;
    run.started = d.at;
    if (d.run.kind == run_kind::schedule) state.last_start = d.at;
  }
  void operator()(const stop_attempt& d) const {
    active_run& run = *find_active(state, d.run);
    LOOPTASK_ASSERT(run.phase == run_phase::going, "stop of an attempt that does not work");
    run.phase = run_phase::stopping;
    run.stopped_for = d.why;
    run.stopped_at = d.at;
  }
  // What follows it, a retry or the end of the run, says what the run is now.
  void operator()(const close_attempt& d) const {
    active_run& run = *find_active(state, d.run);
    LOOPTASK_ASSERT(run.phase != run_phase::backing_off && d.n == run.attempt, "an attempt ends twice");
    run.last_result = d.result;
  }
  void operator()(const plan_retry& d) const {
    active_run& run = *find_active(state, d.run);
    run.phase = run_phase::backing_off;
    run.retry_at = d.at;
  }
  void operator()(const close_run& d) const {
    state.active.erase(find_active(state, d.run));
    if (d.run.kind == run_kind::schedule) state.last_end = d.at;
  }
  void operator()(const hold_slot& d) const {
    const auto waits = find_waiting(state, d.what.id);
    if (waits != state.waiting.end()) {
      waits->why = d.why;
      return;
    }
    judge(state, d.what.id, d.what.id.nominal);
    state.waiting.push_back({d.what, d.why, d.since});
  }
  void operator()(const close_slots& d) const {
    if (!d.waited) return judge(state, d.first.id, d.last);
    const auto waited = find_waiting(state, d.first.id);
    LOOPTASK_ASSERT(waited != state.waiting.end() && d.count == 1, "end of a wait that was none");
    state.waiting.erase(waited);
  }
  void operator()(const rejudge& d) const {
    LOOPTASK_ASSERT(d.watermark >= state.watermark || d.epoch > state.epoch, "slots come again without a new epoch");
    state.judged_from = d.judged_from;
    state.anchor = d.anchor;
    state.watermark = d.watermark;
    state.epoch = d.epoch;
    state.wall_high = d.wall_high;
  }
  void operator()(const set_paused& d) const { state.paused = d.paused; }
  void operator()(const note_wall& d) const { state.wall_high = d.high; }
};

}  // namespace

void apply_decision(job_state& state, const decision& what) { std::visit(applier{state}, what); }

job_state new_state(const job_definition& definition, instant elapsed, instant wall) {
  job_state state;
  const bool by_wall = on_wall_clock(definition.trigger);
  state.judged_from = by_wall ? wall : elapsed;
  state.anchor = elapsed;
  if (const auto* const every = std::get_if<every_trigger>(&definition.trigger)) state.anchor += every->initial_delay;
  // Cron slots are strictly later than the creation; a grid and a start of the service may have one at that instant; `at` is
  // judged wherever it lies.
  state.watermark = by_wall && !at_each_start(definition.trigger) ? state.judged_from : state.judged_from - microseconds(1);
  if (const auto* const at = std::get_if<at_trigger>(&definition.trigger)) {
    state.watermark = std::min(state.judged_from, at->when - microseconds(1));
  }
  state.wall_high = wall;
  return state;
}

}  // namespace looptask::schedule
