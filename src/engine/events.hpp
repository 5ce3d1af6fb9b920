#pragma once
// What the engine tells while it works: one event at a time, for the live log and for tests. An event about a decision comes
// after the decision is durable, and an event about a start after the attempt was started; so nothing is told that a crash
// could take back. Events of one job come in their order.
//
// Owner: the loop's thread. A listener may call the engine; what it asks for is judged in a later turn. It must not throw
// (an exception goes to the loop's error handler) and must not destroy the engine.
//
//   struct printer final : engine::listener {
//     void on_event(const engine::event& e) override { std::printf("%s\n", std::string(to_string(e.what)).c_str()); }
//   };
#include <cstdint>
#include <string>
#include <string_view>

#include <looptask/run.hpp>
#include <looptask/time.hpp>

#include "ledger/ledger.hpp"

namespace looptask::engine {

enum class event_kind : std::uint8_t {
  job_added,
  job_changed,   // a new definition under a known name
  job_rejudged,  // its slots are judged anew from now on; text: why
  job_removed,
  job_paused,
  job_resumed,
  slot_waiting,       // behind an earlier run, or for room; run: the record
  attempt_started,    // run, attempt
  attempt_stopping,   // run, attempt; text: timeout, cancelled, shutdown or removed
  attempt_ended,      // run, attempt
  retry_planned,      // run, attempt: the one that failed; at: when the next one starts (elapsed)
  run_ended,          // run
  slot_not_run,       // run: a slot, or a range of slots, that will not run
  clock_step,         // text: by how much, and what it means
  clock_implausible,  // text: the wall clock is behind the newest durable record; wall-clock jobs wait
  clock_plausible,    // they go on
  loop_stalled,       // text: for how long
  leftovers_killed,   // text: how many processes of an earlier life
  leftovers_alive,    // text: some would not die; the job waits, and killing goes on; of this life: run, attempt
  ledger_trouble,     // text: the store's message; nothing starts until it heals
  ledger_healed,
  record_refused,   // text: the store refused a record of this job
  body_misbehaved,  // text: a job's own code broke its contract (threw where it must not, ended twice)
};

// The name used by logs: the enumerator itself.
std::string_view to_string(event_kind) noexcept;

struct event {
  event_kind what;
  instant wall{};                                   // when it happened, wall clock
  instant elapsed{};                                // the same on the elapsed timeline
  std::string_view job;                             // empty: the service as a whole
  const ledger::run_record* run = nullptr;          // valid during the call; of its attempts the last alone, without output
  const ledger::attempt_record* attempt = nullptr;  // valid during the call; on attempt_ended with its output
  std::string_view error;                           // of the attempt or run: one line
  std::string_view text;                            // one sentence
  instant at{};
};

class listener {
 public:
  virtual void on_event(const event& what) = 0;

 protected:
  ~listener() = default;
};

}  // namespace looptask::engine
