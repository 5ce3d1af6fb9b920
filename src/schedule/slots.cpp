// Slots: which are due, late, missed or suppressed, and what overlap and room make of them.
#include <algorithm>
#include <utility>

#include "schedule/deciding.hpp"
#include "schedule/series.hpp"
#include "schedule/wording.hpp"

namespace looptask::schedule {
namespace {

// A step back beyond this is a correction of a wrong clock, not a clock that was set back.
constexpr microseconds correction_beyond = std::chrono::hours(3);

constexpr microseconds millisecond = std::chrono::milliseconds(1);

std::string slots_text(std::uint64_t count) { return count == 1 ? "1 slot" : std::to_string(count) + " slots"; }

std::string outage_text(const outage& what) {
  switch (what.why) {
    case cause::stalled:
      return "the loop stood still until " + to_text(what.until);
    case cause::clock_step:
      return "the wall clock was set from " + to_text(what.from) + " to " + to_text(what.until);
    default:
      return "the service was not running until " + to_text(what.until);
  }
}

const char* hindrance_text(cause why) {
  return why == cause::limit ? "an earlier slot still waits for room under max_running" : "an earlier run has not ended";
}

}  // namespace

bool stood_still(const job_definition& definition, microseconds late) noexcept { return late > definition.misfire_grace; }

instant deciding::now_for(run_kind kind) const noexcept { return kind == run_kind::schedule ? here_ : now_.wall; }

slot deciding::slot_at(instant nominal) const {
  return {.id = {run_kind::schedule, nominal, out_.after.epoch}, .due = nominal, .run_id = {}};
}

bool deciding::judges_slots() const noexcept {
  return definition_.enabled && now_.judge_slots && !out_.after.paused && clock_known_;
}

bool deciding::follows_runs() const noexcept {
  const auto* const every = std::get_if<every_trigger>(&definition_.trigger);
  return every != nullptr && every->from != interval_from::grid;
}

overlap_policy deciding::overlap() const noexcept { return follows_runs() ? overlap_policy::queue_one : definition_.overlap; }

instant deciding::since(const slot& what) const noexcept {
  return now_.elapsed - std::max(now_for(what.id.kind) - what.due, microseconds(0));
}

// Over a reboot with a wrong wall clock elapsed time goes on from the last sign of life, so that a slot that waited then may
// lie ahead again.
bool deciding::is_early(const slot& what) const noexcept {
  return !by_wall_ && what.id.kind == run_kind::schedule && what.due > now_.elapsed;
}

// What waited when the service went down is lost, until it has been judged.
bool deciding::lost_what_waits() const noexcept {
  return std::any_of(now_.outages.begin(), now_.outages.end(), [](const outage& o) { return o.restart; });
}

std::optional<instant> deciding::pending_interval() const {
  if (!judges_slots()) return std::nullopt;
  const std::optional<instant> due = interval_due(definition_.trigger, out_.after);
  return due && *due <= now_.elapsed ? due : std::nullopt;
}

// The job's one place is taken by a run, or by an earlier slot that waits for room in the service.
bool deciding::place_taken() const {
  return !out_.after.active.empty() || !out_.after.waiting.empty() || pending_interval().has_value();
}

cause deciding::taken_by() const { return out_.after.active.empty() ? cause::limit : cause::overlap; }

void deciding::drop(const slot& first, instant last, std::uint64_t count, slot_outcome outcome, cause why, std::string detail) {
  decide_to(close_slots{first, last, count, outcome, why, std::move(detail), false});
}

void deciding::drop_waiting(const slot& what, slot_outcome outcome, cause why, std::string detail) {
  decide_to(close_slots{what, what.id.nominal, 1, outcome, why, std::move(detail), true});
}

void deciding::open(const slot& what, std::string story) {
  const microseconds lateness = std::max(now_for(what.id.kind) - what.due, microseconds(0));
  --room_;
  decide_to(open_run{what, now_.elapsed, lateness, std::move(story)});
}

// Overlap and room, for a slot that is to run now. `story` says why it runs, if that needs saying.
deciding::placed deciding::place(const slot& what, const std::string& story) {
  if (!place_taken()) {
    if (room_ > 0) return open(what, story), placed::starts;
    decide_to(hold_slot{what, cause::limit, "no room under max_running when it came due at " + to_text(what.due), since(what)});
    return placed::waits;
  }
  const cause why = taken_by();
  const auto queued = std::count_if(state().waiting.begin(), state().waiting.end(),
                                    [](const waiting_slot& w) { return w.why != cause::limit; });
  if (overlap() == overlap_policy::queue_one && queued == 0) {
    decide_to(hold_slot{what, cause::overlap, hindrance_text(why), since(what)});
    return placed::waits;
  }
  drop(what, what.id.nominal, 1, slot_outcome::skipped, why,
       overlap() == overlap_policy::queue_one ? "another slot waits already, and " + std::string(hindrance_text(why))
                                              : hindrance_text(why));
  return placed::dropped;
}

// The oldest slot that waits takes the job's place when it is free; without room in the service it holds it.
void deciding::start_waiting() {
  if (!state().active.empty()) return;
  const std::optional<instant> pending = pending_interval();
  if (!state().waiting.empty() && (!pending || state().waiting.front().since <= *pending)) {
    const waiting_slot first = state().waiting.front();
    if (is_early(first.what)) return;
    if (room_ > 0) {
      open(first.what, std::string("waited ") +
                           to_text(std::max(now_for(first.what.id.kind) - first.what.due, microseconds(0))) +
                           (first.why == cause::limit ? " for room under max_running" : " for an earlier run"));
    } else if (first.why != cause::limit) {
      decide_to(hold_slot{first.what, cause::limit, "the earlier run has ended, but there is no room under max_running",
                          first.since});
    }
  } else if (pending && room_ > 0) {
    open(slot_at(*pending), {});
  }
}

void deciding::judge_slots() {
  if (judges_slots()) judge_unseen();
  if (now_.wall_plausible && now_.judge_slots) judge_steps();
  if (at_each_start(definition_.trigger)) {
    if (now_.begun && now_.judge_slots && definition_.enabled) judge_begin(*now_.begun);
    return;
  }
  if (!judges_slots() || follows_runs()) return;
  for (const outage& what : now_.outages) {
    if (what.from > instant::min()) judge_on_time(what.from - microseconds(1));
    judge_outage(what);
  }
  judge_on_time(here_);
}

// A job is judged from its creation on: an `at` that lies before it never runs, whatever the misfire policy.
void deciding::judge_unseen() {
  const auto* const at = std::get_if<at_trigger>(&definition_.trigger);
  if (at == nullptr || at->when >= state().judged_from || at->when <= state().watermark) return;
  drop(slot_at(at->when), at->when, 1, slot_outcome::missed, cause::down,
       "its time had passed when the job was first seen at " + to_text(state().judged_from) + ", so it never runs");
}

// "@reboot". It looks at no clock, so that a machine that boots with a wrong one is served as well.
void deciding::judge_begin(instant begun) {
  lose_waiting();
  slot what = slot_at(std::max(begun, state().watermark + microseconds(1)));
  what.due = begun;
  if (state().paused) {
    return drop(what, what.id.nominal, 1, slot_outcome::suppressed, cause::paused,
                "the job was paused when the service started");
  }
  place(what, "the service started");
}

void deciding::judge_steps() {
  for (const wall_step& step : now_.steps) {
    const bool correction = step.before - step.after > correction_beyond;
    if (!by_wall_ || !definition_.enabled) {
      // No slot of it follows the wall clock.
    } else if (state().paused) {
      if (correction) suppress(step.before + microseconds(1), "the job was paused when the wall clock was corrected");
    } else {
      judge_on_time(step.before);
      // The wall time before the step itself was shown: only what lies strictly between was jumped over.
      if (step.after > step.before) judge_outage({step.before, step.after, cause::clock_step, false});
    }
    if (correction) correct(step);
  }
}

// A clock that was wrong by this much ran ahead: what it let run does not count, save for `at`, which runs once ever.
void deciding::correct(const wall_step& step) {
  if (!std::holds_alternative<cron_trigger>(definition_.trigger)) {
    return decide_to(note_wall{std::min(state().wall_high, step.after)});
  }
  decide_to(rejudge{step.after, state().anchor, step.after, state().epoch + 1, step.after,
                    "the wall clock was set back by " + to_text(step.before - step.after) + ", more than " +
                        to_text(correction_beyond) + ": slots after " + to_text(step.after) + " count again"});
}

// Slots that came due while somebody could look run, however late.
void deciding::judge_on_time(instant upto) {
  while (true) {
    const std::optional<instant> next = next_slot(definition_.trigger, state().anchor, state().watermark);
    if (!next || *next > upto) return;
    const microseconds lateness = here_ - *next;
    const std::string story =
        lateness > definition_.misfire_grace ? "came due " + to_text(lateness) + " ago, late but not missed" : std::string();
    if (place(slot_at(*next), story) != placed::dropped) continue;
    // What was true for this one is true for all others up to now.
    const slot_range rest = slots_between(definition_.trigger, state().anchor, state().watermark, upto);
    if (rest.count == 0) return;
    const cause why = taken_by();
    drop(slot_at(rest.first), rest.last, rest.count, slot_outcome::skipped, why,
         slots_text(rest.count) + ": " + hindrance_text(why));
    return;
  }
}

// Waiting slots of an earlier life when slots are not judged in this one.
void deciding::lose_waiting() {
  const std::vector<waiting_slot> waiting = state().waiting;
  for (const waiting_slot& w : waiting) {
    drop_waiting(w.what, slot_outcome::missed, cause::down, "it waited when the service went down");
  }
}

// The misfire policy, once for all slots that were missed.
void deciding::judge_outage(const outage& what) {
  const std::vector<waiting_slot> lost = what.restart ? state().waiting : std::vector<waiting_slot>();
  const slot_range missed = slots_between(definition_.trigger, state().anchor, state().watermark, what.until - microseconds(1));
  const std::uint64_t count = lost.size() + missed.count;
  if (count == 0) return;
  const instant latest = missed.count > 0 ? missed.last : lost.back().what.due;
  if (count == 1 && what.until - latest < definition_.misfire_grace) {
    if (missed.count > 0)
      place(slot_at(latest),
            "came due " + to_text(what.until - latest) + " before its time was looked at, within misfire_grace");
    return;  // a lost one simply goes on waiting
  }
  const std::string reason = outage_text(what);
  if (definition_.misfire == misfire_policy::skip) {
    for (const waiting_slot& w : lost)
      drop_waiting(w.what, slot_outcome::missed, what.why, "waited when it was lost: " + reason);
    if (missed.count > 0) {
      drop(slot_at(missed.first), missed.last, missed.count, slot_outcome::missed, what.why,
           slots_text(missed.count) + " missed, misfire is skip: " + reason);
    }
    return;
  }
  // run_once: one trigger for all, the slot exactly at the return if there is one, else the latest.
  const std::optional<instant> next = next_slot(definition_.trigger, state().anchor, what.until - microseconds(1));
  const bool at_return = next == what.until;
  const instant chosen = at_return ? what.until : latest;
  const std::string into = "missed, the run of " + to_text(chosen) + " stands for it: " + reason;
  for (const waiting_slot& w : lost) {
    if (!at_return && missed.count == 0 && &w == &lost.back()) break;  // the latest one runs itself
    drop_waiting(w.what, slot_outcome::coalesced, cause::coalesced, into);
  }
  const std::uint64_t others = at_return || missed.count == 0 ? missed.count : missed.count - 1;
  if (others > 0) {
    const instant last = at_return ? missed.last : missed.before_last;
    drop(slot_at(missed.first), last, others, slot_outcome::coalesced, cause::coalesced, slots_text(others) + " " + into);
  }
  const std::uint64_t stands_for = at_return ? count : count - 1;
  const std::string story = (at_return ? "due at the return" : "missed") + std::string(", run once") +
                            (stands_for > 0 ? " for " + slots_text(stands_for) + " more" : "") + ": " + reason;
  if (at_return || missed.count > 0) place(slot_at(chosen), story);
}

// The next free millisecond.
instant deciding::nominal_of(const request& asked, std::vector<instant>& given) const {
  instant nominal = std::chrono::floor<std::chrono::milliseconds>(now_.wall);
  const auto taken = [&](instant when) {
    const auto in = [&](const std::vector<instant>& all) { return std::find(all.begin(), all.end(), when) != all.end(); };
    return in(asked.taken) || in(given);
  };
  while (taken(nominal)) nominal += millisecond;
  given.push_back(nominal);
  return nominal;
}

void deciding::judge_requests() {
  std::vector<instant> given;
  for (const request& r : now_.requests) {
    const instant nominal = nominal_of(r, given);
    place({.id = {run_kind::manual, nominal, state().epoch}, .due = nominal, .run_id = r.run_id}, "asked for by hand");
  }
}

void deciding::refuse_requests(slot_outcome outcome, cause why, const std::string& detail) {
  std::vector<instant> given;
  for (const request& r : now_.requests) {
    const instant nominal = nominal_of(r, given);
    drop({.id = {run_kind::manual, nominal, state().epoch}, .due = nominal, .run_id = r.run_id}, nominal, 1, outcome, why,
         "asked for by hand, but " + detail);
  }
}

// What was asked for before the stop is answered; a pause or its end holds for the next life.
void deciding::note_asked() {
  refuse_requests(slot_outcome::skipped, cause::shutdown, "the service stops");
  if (now_.pause == true) pause();
  if (now_.pause == false) resume();
}

// All slots up to `upto` are suppressed. `end` and `start` jobs have one each interval, as if a run had taken no time.
void deciding::suppress(instant upto, std::string detail) {
  if (has_series(definition_.trigger)) {
    const slot_range passed = slots_between(definition_.trigger, state().anchor, state().watermark, upto - microseconds(1));
    if (passed.count == 0) return;
    return drop(slot_at(passed.first), passed.last, passed.count, slot_outcome::suppressed, cause::paused,
                slots_text(passed.count) + ": " + detail);
  }
  const std::optional<instant> due = interval_due(definition_.trigger, state());
  if (!due || *due >= upto) return;
  const microseconds interval = std::get<every_trigger>(definition_.trigger).interval;
  const std::int64_t steps = (upto - *due - microseconds(1)) / interval;
  const instant last = *due + interval * steps;
  drop(slot_at(*due), last, static_cast<std::uint64_t>(steps) + 1, slot_outcome::suppressed, cause::paused,
       slots_text(static_cast<std::uint64_t>(steps) + 1) + ": " + detail);
  decide_to(rejudge{state().judged_from, last + interval, state().watermark, state().epoch, state().wall_high, {}});
}

void deciding::resume() {
  if (!state().paused) return;
  if (definition_.enabled && clock_known_) suppress(here_, "the job was paused until " + to_text(here_));
  decide_to(set_paused{false});
}

void deciding::pause() {
  if (state().paused) return;
  const std::vector<waiting_slot> waiting = state().waiting;
  for (const waiting_slot& w : waiting) {
    if (w.what.id.kind == run_kind::schedule) {
      drop_waiting(w.what, slot_outcome::suppressed, cause::paused, "the job was paused while it waited");
    }
  }
  decide_to(set_paused{true});
}

}  // namespace looptask::schedule
