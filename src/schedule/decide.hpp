#pragma once
// decide(): all rules of slots, overlap, misfire, timeouts, retries, pause, clocks and limits, in one pure function (no clock,
// no I/O, no randomness). Service, simulator, `why` and tests call it; nothing else decides. docs/semantics.md says the rules.
//
// Order inside one instant: steps of the wall clock, ends, timeouts, retries, waiting slots, missed slots, the slot due now,
// requests by hand.
//
//   verdict v = decide(definition, state, {.elapsed = e, .wall = w});
//   for (const decision& d : v.decisions) ...   // make durable, then do
//   state = std::move(v.after);
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <looptask/time.hpp>

#include "schedule/decision.hpp"
#include "schedule/definition.hpp"
#include "schedule/facts.hpp"
#include "schedule/state.hpp"

namespace looptask::schedule {

struct verdict {
  std::vector<decision> decisions;
  job_state after;  // the fold of apply_decision() over the decisions
  // When to ask again even if nothing happens; each on its own timeline, later than now.
  std::optional<instant> wake_elapsed;
  std::optional<instant> wake_wall;
  std::optional<instant> next_due;   // T: the next slot known, claimed ones excluded
  std::optional<instant> room_from;  // E: when a slot came due that waits only for room in the service
};

// Whether a timer of this job that came so late says that the loop stood still: its slots since then are an outage, cause
// stalled. Less is mere lateness.
bool stood_still(const job_definition& definition, microseconds late) noexcept;

verdict decide(const job_definition& definition, job_state state, const facts& now);

// A definition takes the place of another (of the same name), at this instant. A changed trigger is judged from now on, and its
// waiting slots are superseded; enabling judges from now on and keeps the phase; anything else changes nothing.
// `before_text` is trigger_text() of the old one, empty for a job that was being removed and is added again: a new one, which
// is judged from now on and not paused. The old definition itself may be unknown (null) after a restart: then its slots that
// nobody judged are not listed.
verdict revise(const job_definition* before, std::string_view before_text, const job_definition& after, job_state state,
               instant elapsed, instant wall);

}  // namespace looptask::schedule
