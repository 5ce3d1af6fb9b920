#include "schedule/decide.hpp"

#include <algorithm>
#include <utility>

#include "schedule/backoff.hpp"
#include "schedule/deciding.hpp"
#include "schedule/series.hpp"
#include "schedule/wording.hpp"

namespace looptask::schedule {
namespace {

void sooner(std::optional<instant>& wake, instant when) {
  if (!wake || when < *wake) wake = when;
}

run_result result_of(stop_reason why) noexcept {
  switch (why) {
    case stop_reason::timeout:
      return run_result::timeout;
    case stop_reason::shutdown:
      return run_result::killed;
    case stop_reason::cancelled:
    case stop_reason::removed:
      break;
  }
  return run_result::cancelled;
}

bool retried(run_result result) noexcept {
  return result == run_result::failed || result == run_result::timeout || result == run_result::start_failed;
}

}  // namespace

verdict decide(const job_definition& definition, job_state state, const facts& now) {
  return deciding(definition, std::move(state), now).run();
}

deciding::deciding(const job_definition& definition, job_state&& state, const facts& now)
    : definition_(definition),
      now_(now),
      by_wall_(on_wall_clock(definition.trigger)),
      clock_known_(!by_wall_ || now.wall_plausible || at_each_start(definition.trigger)),
      here_(by_wall_ ? now.wall : now.elapsed),
      room_(now.room) {
  out_.after = std::move(state);
}

// The order of one instant.
verdict deciding::run() && {
  if (now_.scope == scope::asked) {
    note_asked();
    return std::move(out_);
  }
  if (now_.revived && now_.scope != scope::watch) interrupt_all(*now_.revived);
  if (now_.scope != scope::watch) judge_ends();
  judge_cancels();
  judge_timeouts();
  if (now_.scope != scope::watch && now_.removed) {
    remove();
  } else if (now_.scope != scope::watch && now_.draining) {
    drain();
  } else if (now_.scope == scope::all) {
    start_retries();
    if (now_.pause == false) resume();
    // What waited when the service went down is judged as missed before any of it can start.
    const bool lost = lost_what_waits();
    if (!lost) start_waiting();
    if (lost && !now_.judge_slots) lose_waiting();
    judge_slots();
    if (!lost || clock_known_) start_waiting();
    judge_requests();
    if (now_.pause == true) pause();
    if (now_.wall_plausible && now_.wall > state().wall_high) decide_to(note_wall{now_.wall});
  }
  plan_wakes();
  return std::move(out_);
}

void deciding::decide_to(decision what) {
  apply_decision(out_.after, what);
  out_.decisions.push_back(std::move(what));
}

void deciding::judge_ends() {
  for (const attempt_finished& end : now_.ended) judge_end(end);
}

void deciding::judge_end(const attempt_finished& end) {
  const auto found = std::find_if(state().active.begin(), state().active.end(),
                                  [&](const active_run& run) { return run.what.id == end.run && run.attempt == end.n; });
  if (found == state().active.end() || found->phase == run_phase::backing_off) return;
  end_attempt(active_run(*found), end);
}

void deciding::end_attempt(const active_run& run, const attempt_finished& end) {
  // Work that ended before it was asked to has ended by itself, even if the word of it came later.
  const bool stopped = run.phase == run_phase::stopping && end.at >= run.stopped_at;
  const run_result result = stopped ? result_of(run.stopped_for) : end.result;
  const instant at = std::max(end.at, run.attempt_started);
  decide_to(close_attempt{run.what.id, run.attempt, result, at});
  if (!retried(result) || run.attempt > definition_.retry.max) {
    cause why = end.why;
    if (result == run_result::killed) why = cause::shutdown;
    if (stopped && run.stopped_for == stop_reason::removed) why = cause::removed;
    return close(run, result, why, at, {});
  }
  if (now_.draining) {
    return close(run, run_result::killed, cause::shutdown, at,
                 "attempt " + std::to_string(run.attempt) + " ended as " + std::string(to_string(result)) +
                     " and is not retried: the service stops");
  }
  const microseconds delay = retry_delay(definition_.retry, run.attempt, end.draw);
  const instant next = delay > instant::max() - at ? instant::max() : at + delay;
  decide_to(plan_retry{run.what.id, run.attempt, next,
                       "attempt " + std::to_string(run.attempt) + " of " + std::to_string(definition_.retry.max + 1) +
                           " ended as " + std::string(to_string(result)) + ", the next one starts after " + to_text(delay)});
}

void deciding::close(const active_run& run, run_result result, cause why, instant at, std::string detail) {
  decide_to(close_run{run.what.id, result, why, at, std::move(detail)});
}

void deciding::stop(const active_run& run, stop_reason why, std::string detail) {
  decide_to(stop_attempt{run.what.id, run.attempt, why, now_.elapsed, std::move(detail)});
}

void deciding::judge_cancels() {
  for (const slot_id& id : now_.cancels) {
    const auto found =
        std::find_if(state().active.begin(), state().active.end(), [&](const active_run& run) { return run.what.id == id; });
    if (found == state().active.end()) continue;
    const active_run& run = *found;
    if (run.phase == run_phase::going) {
      if (!known_to_have_ended(run)) stop(run, stop_reason::cancelled, "cancelled by hand");
    } else if (run.phase != run_phase::stopping && now_.scope != scope::watch) {
      close(run, run_result::cancelled, cause::none, now_.elapsed, "cancelled by hand, no attempt was going");
    }
  }
}

bool deciding::known_to_have_ended(const active_run& run) const noexcept {
  return std::any_of(now_.ended.begin(), now_.ended.end(),
                     [&](const attempt_finished& end) { return end.run == run.what.id && end.n == run.attempt; });
}

void deciding::judge_timeouts() {
  const std::vector<active_run> going = state().active;
  for (const active_run& run : going) {
    if (run.phase != run_phase::going || known_to_have_ended(run)) continue;
    if (now_.draining && now_.grace_over) {
      stop(run, stop_reason::shutdown, "the service stops and its grace for running jobs is over");
    } else if (definition_.timeout && now_.elapsed - run.attempt_started >= *definition_.timeout) {
      stop(run, stop_reason::timeout,
           "attempt " + std::to_string(run.attempt) + " was still going " + to_text(now_.elapsed - run.attempt_started) +
               " after its start, the timeout is " + to_text(*definition_.timeout));
    }
  }
}

void deciding::interrupt_all(instant last_sign_of_life) {
  const std::vector<active_run> going = state().active;
  for (const active_run& run : going) {
    const instant at = std::max(last_sign_of_life, run.phase == run_phase::backing_off ? run.started : run.attempt_started);
    if (run.phase != run_phase::backing_off) decide_to(close_attempt{run.what.id, run.attempt, run_result::interrupted, at});
    close(run, run_result::interrupted, cause::down, at,
          "the service ended while the run was going; " + (last_sign_of_life == instant::min()
                                                               ? "no sign of life is known"
                                                               : "its last sign of life was at " + to_text(last_sign_of_life)));
  }
}

void deciding::remove() {
  const std::vector<active_run> going = state().active;
  for (const active_run& run : going) {
    if (run.phase == run_phase::going) stop(run, stop_reason::removed, "the job was removed");
    if (run.phase == run_phase::claimed || run.phase == run_phase::backing_off) {
      close(run, run_result::cancelled, cause::removed, now_.elapsed, "the job was removed, no attempt was going");
    }
  }
  const std::vector<waiting_slot> waiting = state().waiting;
  for (const waiting_slot& w : waiting) drop_waiting(w.what, slot_outcome::superseded, cause::removed, "the job was removed");
  refuse_requests(slot_outcome::superseded, cause::removed, "the job was removed");
  if (state().paused) suppress(here_, "the job was paused until it was removed");
}

void deciding::drain() {
  note_asked();
  const std::vector<active_run> going = state().active;
  for (const active_run& run : going) {
    if (run.phase != run_phase::backing_off) continue;
    close(run, run_result::killed, cause::shutdown, now_.elapsed,
          "attempt " + std::to_string(run.attempt) + " ended as " + std::string(to_string(run.last_result)) +
              ", and the retry planned for " + to_text(run.retry_at) + " is not made: the service stops");
  }
}

void deciding::start_retries() {
  const std::vector<active_run> going = state().active;
  for (const active_run& run : going) {
    if (run.phase == run_phase::backing_off && run.retry_at <= now_.elapsed) {
      decide_to(open_attempt{run.what.id, run.attempt + 1, now_.elapsed});
    }
  }
}

void deciding::plan_wakes() {
  for (const active_run& run : state().active) {
    if (run.phase == run_phase::going && definition_.timeout && !known_to_have_ended(run)) {
      sooner(out_.wake_elapsed, run.attempt_started + *definition_.timeout);
    }
    if (run.phase == run_phase::backing_off) sooner(out_.wake_elapsed, run.retry_at);
  }
  if (now_.draining || now_.removed) return;
  // What an earlier life left waiting cannot start before the clock is believed.
  const bool may_start = clock_known_ || !lost_what_waits();
  if (state().active.empty() && !state().waiting.empty() && may_start) {
    const waiting_slot& first = state().waiting.front();
    if (is_early(first.what)) {
      sooner(out_.wake_elapsed, first.what.due);
    } else {
      out_.room_from = first.since;
    }
  }
  if (!judges_slots()) return;
  if (const std::optional<instant> due = interval_due(definition_.trigger, state())) {
    out_.next_due = due;
    if (*due > now_.elapsed) {
      sooner(out_.wake_elapsed, *due);
    } else if (state().active.empty()) {
      sooner(out_.room_from, *due);
    }
  }
  if (const std::optional<instant> next = next_slot(definition_.trigger, state().anchor, state().watermark)) {
    out_.next_due = next;
    if (*next > here_) sooner(by_wall_ ? out_.wake_wall : out_.wake_elapsed, *next);
  }
}

}  // namespace looptask::schedule
