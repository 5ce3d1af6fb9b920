#pragma once
// What decide() is told: everything it cannot know by itself, as values. Nothing in here is a rule.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <looptask/run.hpp>
#include <looptask/time.hpp>

#include "schedule/state.hpp"

namespace looptask::schedule {

struct attempt_finished {
  slot_id run;
  std::uint32_t n = 1;
  run_result result{};  // success, failed, start_failed; killed: never started because the service stops
  instant at{};         // E: when the work ended
  cause why = cause::none;
  double draw = 0;  // for the jitter of a retry, uniform in [0, 1)
};

// A request by hand.
struct request {
  std::string run_id;
  std::vector<instant> taken;  // nominals of manual slots of this job and epoch, from the request's millisecond on
};

// Somebody set the wall clock.
struct wall_step {
  instant before{}, after{};
};

// On the timeline of the job's trigger, slots in [from, until) came due while nobody could look.
struct outage {
  instant from{}, until{};
  cause why = cause::down;  // down or stalled
  bool restart = false;     // slots that were waiting at its beginning are missed as well
};

enum class scope : std::uint8_t {
  watch,  // only what must not wait for the ledger: attempts to be stopped. Ends in `ended` are known, but not yet judged
  asked,  // only what was asked for by hand, of a job of which nothing else may be judged while the service stops
  ends,   // as watch, and ends
  all,    // and everything else
};

struct facts {
  instant elapsed{};  // E: now
  instant wall{};     // W: now
  schedule::scope scope = scope::all;
  std::uint32_t room = UINT32_MAX;  // runs that the service may open now
  bool wall_plausible = true;       // false: slots on the wall clock wait
  bool judge_slots = true;          // false: only requests by hand

  std::vector<attempt_finished> ended{};  // in order of run start
  std::vector<request> requests{};
  std::vector<slot_id> cancels{};
  std::vector<wall_step> steps{};  // in their order
  std::vector<outage> outages{};   // in their order
  std::optional<instant> begun{};  // W: when this life of the service began; told once, to each job that was there then
  std::optional<instant>
      revived{};  // E: this is a new life of the service; the last sign of life of the one before, min() if none is known
  std::optional<bool> pause{};  // asked for: pause or resume
  bool draining = false;        // nothing starts any more
  bool grace_over = false;      // with draining: attempts are stopped
  bool removed = false;         // the job is removed
};

}  // namespace looptask::schedule
