// What follows from durable decisions, and what attempts say.
#include <algorithm>
#include <exception>
#include <utility>

#include "engine/core.hpp"
#include "schedule/wording.hpp"

namespace looptask::engine {
namespace {

constexpr std::size_t recent_kept = 16;

}  // namespace

void engine::core::deliver(package what) {
  std::vector<pending_event> started;
  for (const planned_start& next : what.starts) {
    if (std::optional<pending_event> e = start_attempt(next)) started.push_back(std::move(*e));
  }
  for (const pending_event& e : what.events) tell(e);
  for (const pending_event& e : started) tell(e);
  if (!dirty_.empty() || !want_room_.empty()) schedule_evaluation();
  finish_if_done();
}

// The ledger will never take this record: the starts that follow from it do not happen.
void engine::core::refused(package what, const std::string& why) {
  for (const planned_start& next : what.starts) {
    job* const j = find(next.job);
    live_run* const run = j == nullptr ? nullptr : j->find(next.run);
    if (run == nullptr) continue;
    run->ended = attempt_end();
    run->ended->error = "the ledger refused the claim: " + why;
    j->told.ended.push_back({.run = next.run, .n = next.n, .result = run_result::start_failed, .at = clocks_.now().elapsed});
    touch(*j);
  }
  const std::string name = !what.batch.runs.empty()   ? what.batch.runs.front().key.job
                           : !what.batch.jobs.empty() ? what.batch.jobs.front().name
                                                      : std::string();
  tell_now(event_kind::record_refused, name, why);
  if (!dirty_.empty()) schedule_evaluation();
  finish_if_done();
}

std::optional<pending_event> engine::core::start_attempt(const planned_start& what) {
  job* const j = find(what.job);
  live_run* const run = j == nullptr ? nullptr : j->find(what.run);
  if (run == nullptr || run->record.attempts.empty() || run->record.attempts.back().n != what.n) return std::nullopt;
  if (stopping_) {
    j->told.ended.push_back({.run = what.run, .n = what.n, .result = run_result::killed, .at = clocks_.now().elapsed});
    touch(*j);
    return std::nullopt;
  }
  const moment now = clocks_.now();
  note_start(*j, *run, now);
  run->body = j->body;
  run->attempt = std::make_unique<live_attempt>(*this, what.job, run->record.key, what.n);
  run->attempt->start(*run->body, run->record.run_id);

  pending_event e;
  e.what = event_kind::attempt_started;
  e.wall = now.wall;
  e.elapsed = now.elapsed;
  e.job = what.job;
  e.run = run->record;
  e.attempt = run->record.attempts.back();
  return e;
}

void engine::core::note_start(job& j, live_run& run, const moment& now) {
  ledger::attempt_record& attempt = run.record.attempts.back();
  schedule::apply_decision(j.state, schedule::note_started{run.id, attempt.n, now.elapsed});
  attempt.started = now.wall;
  for (ledger::attempt_record& changed : run.changed) {
    if (changed.n == attempt.n) changed.started = now.wall;
  }
  ++j.since_start.attempts;
  ++total_.attempts;
  if (attempt.n == 1) {
    const bool by_elapsed = run.id.kind == run_kind::schedule && !schedule::on_wall_clock(j.definition.trigger);
    run.record.started = now.wall;
    run.record.lateness = std::max((by_elapsed ? now.elapsed : now.wall) - run.record.due, microseconds(0));
    j.last_start = now.wall;
    j.recent.push_back({run.record.run_id, now.wall, std::nullopt, std::nullopt});
    if (j.recent.size() > recent_kept) j.recent.pop_front();
  }
  if (!j.definition.timeout) return;
  const instant deadline = now.elapsed + *j.definition.timeout;
  if (j.wake_elapsed && *j.wake_elapsed <= deadline) return;
  j.wake_elapsed = deadline;
  const std::optional<job::expected_slot> expected = j.expected;  // it waits for the same slot as before
  arm(j, now);
  j.expected = expected;
}

void engine::core::tell(const pending_event& what) {
  event e;
  e.what = what.what;
  e.wall = what.wall;
  e.elapsed = what.elapsed;
  e.job = what.job;
  e.run = what.run ? &*what.run : nullptr;
  e.attempt = what.attempt ? &*what.attempt : nullptr;
  e.error = what.error;
  e.text = what.text;
  e.at = what.at;
  try {
    listener_.on_event(e);
  } catch (...) {
    loop_.call_soon([error = std::current_exception()] { std::rethrow_exception(error); });
  }
}

// For what no decision stands behind.
void engine::core::tell_now(event_kind what, std::string_view job, std::string text) {
  const moment now = clocks_.now();
  pending_event e;
  e.what = what;
  e.wall = now.wall;
  e.elapsed = now.elapsed;
  e.job = std::string(job);
  e.text = std::move(text);
  tell_soon(std::move(e));
}

// So that a listener never finds the engine in the middle of its work.
void engine::core::tell_soon(pending_event what) {
  loop_.call_soon([this, living = std::weak_ptr<char>(living_), what = std::move(what)] {
    if (!living.expired()) tell(what);
  });
}

void engine::core::on_attempt_process(live_attempt& of, const process_identity& who) {
  job* const j = find(of.job());
  live_run* const run = j == nullptr ? nullptr : j->find({of.key().kind, of.key().nominal, of.key().epoch});
  if (run == nullptr || run->record.attempts.empty() || run->record.attempts.back().n != of.n()) return;
  ledger::attempt_record& attempt = run->record.attempts.back();
  attempt.process = who;
  std::erase_if(run->changed, [&](const ledger::attempt_record& a) { return a.n == of.n(); });
  run->changed.push_back(attempt);
  j->unsaved = true;  // with the record goes the job's last start: a restart counts on from the start that the record shows
  touch(*j);
}

// The run goes on: it keeps its place, so that nothing of the job starts beside what is left.
void engine::core::on_attempt_unkillable(live_attempt& of, int left) {
  job* const j = find(of.job());
  live_run* const run = j == nullptr ? nullptr : j->find({of.key().kind, of.key().nominal, of.key().epoch});
  if (run == nullptr || run->record.attempts.empty() || run->record.attempts.back().n != of.n()) return;
  const moment now = clocks_.now();
  pending_event e;
  e.what = event_kind::leftovers_alive;
  e.wall = now.wall;
  e.elapsed = now.elapsed;
  e.job = of.job();
  e.run = run->record;
  e.attempt = run->record.attempts.back();
  e.text = std::to_string(left) + (left == 1 ? " process" : " processes") +
           " of the run would not die; it keeps its place, and killing goes on";
  tell_soon(std::move(e));
}

void engine::core::on_attempt_end(live_attempt& of, attempt_end how) {
  job* const j = find(of.job());
  const schedule::slot_id id{of.key().kind, of.key().nominal, of.key().epoch};
  live_run* const run = j == nullptr ? nullptr : j->find(id);
  if (run == nullptr) return;
  const moment now = clocks_.now();
  schedule::attempt_finished end{.run = id, .n = of.n(), .result = how.result, .at = now.elapsed};
  if (how.ended) end.at = clocks::elapsed_of(*how.ended, now);
  if (how.leftover_killed) end.why = cause::leftover;
  // 53 bits, the precision of a double.
  if (j->definition.retry.jitter > 0) end.draw = static_cast<double>(loop_.where().random().next() >> 11) * 0x1.0p-53;
  j->told.ended.push_back(end);
  run->ended = std::move(how);
  touch(*j);
}

void engine::core::on_misbehaviour(live_attempt& of, std::string what) {
  tell_now(event_kind::body_misbehaved, of.job(), std::move(what));
}

void engine::core::keep_beating() {
  if (active_ == 0) return heart_.cancel();
  if (heart_.armed()) return;
  const instant now = clocks_.now().elapsed;
  if (!last_beat_ || now - *last_beat_ >= options_.heartbeat) return beat();
  heart_.arm_after(*last_beat_ + options_.heartbeat - now);
}

void engine::core::beat() {
  last_beat_ = clocks_.now().elapsed;
  history_.alive(*last_beat_);
  heart_.arm_after(options_.heartbeat);
}

}  // namespace looptask::engine
