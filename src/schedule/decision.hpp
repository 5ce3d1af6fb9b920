#pragma once
// Decisions are values: what is to be done about one job, each with its reason. A new state is the fold of apply_decision()
// over them, so service, simulator and tests agree by construction. `detail` is one sentence with the values compared, or
// empty.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <looptask/run.hpp>
#include <looptask/time.hpp>

#include "schedule/state.hpp"

namespace looptask::schedule {

// The slot runs: a run is opened, its first attempt is to be started.
struct open_run {
  slot what;
  instant at{};              // E
  microseconds lateness{0};  // since due, on the timeline of the slot
  std::string detail;
  bool operator==(const open_run&) const = default;
};

// Attempt `n` (2, 3, ...) of a run is to be started.
struct open_attempt {
  slot_id run;
  std::uint32_t n = 2;
  instant at{};  // E
  bool operator==(const open_attempt&) const = default;
};

// The attempt exists since `at`. Not one of decide()'s: who did what was decided says it.
struct note_started {
  slot_id run;
  std::uint32_t n = 1;
  instant at{};  // E
  bool operator==(const note_started&) const = default;
};

struct stop_attempt {
  slot_id run;
  std::uint32_t n = 1;
  stop_reason why{};
  instant at{};  // E
  std::string detail;
  bool operator==(const stop_attempt&) const = default;
};

struct close_attempt {
  slot_id run;
  std::uint32_t n = 1;
  run_result result{};
  instant at{};  // E
  bool operator==(const close_attempt&) const = default;
};

struct plan_retry {
  slot_id run;
  std::uint32_t failed = 1;  // the attempt that failed
  instant at{};              // E: when the next one is due
  std::string detail;
  bool operator==(const plan_retry&) const = default;
};

struct close_run {
  slot_id run;
  run_result result{};
  cause why = cause::none;
  instant at{};  // E
  std::string detail;
  bool operator==(const close_run&) const = default;
};

// The slot waits, or goes on waiting for another reason.
struct hold_slot {
  slot what;
  cause why = cause::overlap;
  std::string detail;
  instant since{};  // E: when it came due; of no meaning if it waited already
  bool operator==(const hold_slot&) const = default;
};

// These slots will not run: `count` consecutive ones from `first` to `last`.
struct close_slots {
  slot first;
  instant last{};
  std::uint64_t count = 1;
  slot_outcome outcome{};
  cause why = cause::none;
  std::string detail;
  bool waited = false;  // it was waiting (count is 1 then)
  bool operator==(const close_slots&) const = default;
};

// Slots are judged anew from here: a new or changed trigger, enabling, resuming, a correction of the wall clock.
struct rejudge {
  instant judged_from{};  // T
  instant anchor{};       // E
  instant watermark{};    // T
  std::uint32_t epoch = 0;
  instant wall_high{};  // W
  std::string detail;
  bool operator==(const rejudge&) const = default;
};

struct set_paused {
  bool paused = false;
  bool operator==(const set_paused&) const = default;
};

struct note_wall {
  instant high{};  // W: latest wall time seen
  bool operator==(const note_wall&) const = default;
};

using decision = std::variant<open_run, open_attempt, note_started, stop_attempt, close_attempt, plan_retry, close_run,
                              hold_slot, close_slots, rejudge, set_paused, note_wall>;

// A decision that does not fit the state (a run that is not there, a slot decided twice) is misuse and asserts.
void apply_decision(job_state& state, const decision& what);

}  // namespace looptask::schedule
