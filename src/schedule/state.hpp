#pragma once
// What decisions need to know of a job besides its definition: how far its slots are judged, what waits, what is going.
// Plain values; only apply_decision() changes them (decision.hpp).
//
// Letters as in the ledger: E elapsed timeline, W wall clock, T the timeline of the job's trigger.
// Invariants: `watermark` never goes back unless `epoch` rises with it; a slot is waiting, or active, or decided for good,
// never two of these; at most one waiting slot holds the job's place (why == cause::limit), and only while nothing is active.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <looptask/run.hpp>
#include <looptask/time.hpp>

#include "schedule/definition.hpp"

namespace looptask::schedule {

struct slot_id {
  run_kind kind = run_kind::schedule;
  instant nominal{};  // T; of manual slots: W, the instant of the request
  std::uint32_t epoch = 0;

  auto operator<=>(const slot_id&) const = default;
};

struct slot {
  slot_id id;
  instant due{};
  std::string run_id;  // chosen by who asked for it; empty for slots of the schedule

  bool operator==(const slot&) const = default;
};

struct waiting_slot {
  slot what;
  cause why = cause::overlap;  // limit: it holds the job's place and waits for room in the service
  instant since{};             // E: when it came due; a wall clock that is set later changes nothing of that

  bool operator==(const waiting_slot&) const = default;
};

enum class stop_reason : std::uint8_t { timeout, cancelled, removed, shutdown };

enum class run_phase : std::uint8_t {
  claimed,      // decided; the attempt does not exist yet
  going,        // the attempt works
  stopping,     // it was asked to end
  backing_off,  // between two attempts
};

struct active_run {
  slot what;
  std::uint32_t attempt = 1;  // the current one, while backing off the one that failed
  run_phase phase = run_phase::claimed;
  instant started{};          // E: of the first attempt (until then: of the claim)
  instant attempt_started{};  // E: of the current attempt (until then: of its claim)
  instant retry_at{};         // E: backing_off
  run_result last_result{};   // backing_off: of the attempt that failed
  stop_reason stopped_for{};  // stopping
  instant stopped_at{};       // E: stopping

  bool operator==(const active_run&) const = default;
};

struct job_state {
  instant judged_from{};  // T: slots before it never existed
  instant anchor{};       // E: slot 0 of a grid; of end and start: no due time lies before it
  instant watermark{};    // T: every slot up to here, included, is waiting, active or decided
  instant wall_high{};    // W: latest wall time seen
  std::uint32_t epoch = 0;
  std::optional<instant> last_start;  // E: of the schedule's runs
  std::optional<instant> last_end;    // E: of the schedule's runs
  bool paused = false;
  std::vector<waiting_slot> waiting;  // in the order in which they start
  std::vector<active_run> active;     // in order of start

  bool operator==(const job_state&) const = default;
};

// Which clock the trigger lives on: wall for cron and at, elapsed for the rest.
bool on_wall_clock(const trigger& what) noexcept;

// The state of a job created at this instant: nothing is judged yet.
job_state new_state(const job_definition& definition, instant elapsed, instant wall);

}  // namespace looptask::schedule
