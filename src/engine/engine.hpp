#pragma once
// The engine: effects only. It asks schedule::decide() what is to be done, makes the answer durable in the ledger, and then
// does it: starts attempts, stops them, records how they ended. It never decides anything itself.
//
// Invariants. A start is durable before the attempt exists. All ends and timers of one instant are judged together, jobs in
// the order (due, name). At most one batch is on its way to the ledger; while the ledger fails nothing starts, and the batch
// is submitted again until it succeeds. No failure of one job's body reaches another job or the loop.
//
// Owner: the loop's thread, for every function. All functions return at once; what they ask for is judged when the loop has
// handled everything else of this instant, and is told through the listener. Errors: std::runtime_error where stated;
// unknown job names are misuse only where stated.
//
//   looptask::engine::engine e(loop, *store, {.max_running = 8}, log);
//   e.add(definition, body);
//   e.start();
//   loop.run();  // until somebody calls e.stop([&](auto) { loop.stop(); });
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/loop.hpp>
#include <looptask/run.hpp>
#include <looptask/time.hpp>

#include "engine/events.hpp"
#include "engine/job_body.hpp"
#include "ledger/ledger.hpp"
#include "schedule/definition.hpp"

namespace looptask::engine {

struct options {
  std::uint32_t max_running = 64;                          // runs going at once, those waiting for a retry included
  microseconds shutdown_grace = std::chrono::seconds(30);  // how long running attempts may go on after stop()
  microseconds stop_kill_cap = std::chrono::seconds(3);    // upper bound of kill_after at shutdown
  microseconds heartbeat = std::chrono::seconds(1);        // sign of life while a run is going
  bool manual_only = false;  // no slot of any schedule is judged (run --once); what the ledger says of schedules stays
};

// How often slots and runs went one way or another since this engine started (not over the ledger's whole life).
struct tally {
  std::uint64_t runs = 0;                // ended
  std::uint64_t failures = 0;            // of these, the ones that did not end in success
  std::uint64_t attempts = 0;            // started
  std::uint64_t retries = 0;             // attempts after a run's first
  std::uint64_t timeouts = 0;            // attempts that ended by their timeout
  std::array<std::uint64_t, 6> slots{};  // by slot_outcome; [ran] counts starts of runs
};

struct recent_run {
  std::string run_id;
  instant started{};  // wall clock
  std::optional<microseconds> duration;
  std::optional<run_result> result;
};

struct job_status {
  std::string name;
  bool enabled = true;
  bool paused = false;
  std::uint64_t runs = 0;      // ended runs over the ledger's whole life
  std::uint64_t failures = 0;  // of these, the ones that did not end in success
  std::string last_error;
  std::optional<instant> last_start;  // wall clock, of this engine's life
  std::optional<microseconds> last_duration;
  std::optional<instant>
      next_due;  // on the timeline of its trigger; nullopt: none, paused, disabled, not judged yet, or follows from a run's end
  std::vector<std::string> active;  // run ids
  std::uint32_t waiting = 0;        // slots behind a run, or without room
  std::vector<recent_run> recent;   // oldest first, at most 16
  tally since_start;
};

struct statistics {
  std::size_t jobs = 0;
  std::uint32_t running = 0;           // runs that hold a place, at most max_running
  std::uint32_t between_attempts = 0;  // of these, the ones that wait for their next attempt
  std::uint32_t waiting = 0;
  std::uint64_t evaluations = 0;  // calls of decide() for one job
  std::uint64_t batches = 0;      // given to the ledger, repeats not counted
  bool ledger_trouble = false;
  bool wall_clock_plausible = true;
  tally total;
};

// What stop() could not finish. All zero: nothing was left behind.
struct stop_report {
  std::uint32_t attempts_left = 0;  // did not end although stopped and killed
  std::uint32_t runs_unrecorded = 0;
  std::string message;  // one line, empty if nothing was left
};

class engine {
 public:
  // `home`, `history` and `told` outlive the engine. Nothing is read or started before start().
  engine(loop& home, ledger::store& history, options how, listener& told);
  // Without a finished stop() this is what a crash is: attempts are destroyed as they stand, nothing is recorded.
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  // A new job (also under the name of one that is being removed), or a new definition under a known name: a changed trigger is
  // judged from now on and its waiting slots are superseded, anything else keeps phase and watermark. A run that is going keeps
  // the body it began with for that attempt. `what` has been checked (interval >= 1 ms, name not empty, cron by
  // schedule::trigger_of()); asserts otherwise. Of a running engine it may throw std::runtime_error if the ledger cannot be
  // read; then the job was not added.
  void add(schedule::job_definition what, std::shared_ptr<job_body> body);
  // Its waiting slots are superseded, a run that is going is stopped (cancelled, cause removed), its records stay. False: no
  // such job.
  bool remove(std::string_view job);
  // No slot of a paused job runs: all that pass are suppressed, recorded as one range at resume. Runs that are going go on,
  // requests by hand are served. Durable, also if the service stops at once. False: no such job, or stopping.
  bool pause(std::string_view job);
  bool resume(std::string_view job);
  // Asks for a run by hand, with this run id (as new_run_id() gives it). It meets overlap and limits like a slot; the listener
  // hears of it, also if the service stops before it could start (skipped, cause shutdown). False: no such job, or stopping.
  bool trigger(std::string_view job, const std::string& run_id);
  std::string new_run_id();  // a ULID: wall clock and randomness
  // Stops the run: result `cancelled`, no retry. False: no such run is going.
  bool cancel(std::string_view run_id);

  // Loads the ledger and begins. Jobs of the ledger that were not added by now are removed. Runs of an earlier life that were
  // going become `interrupted`; what is left of their processes is killed before their job runs again. Throws
  // std::runtime_error if the ledger cannot be read. Once.
  void start();
  // No attempt starts after this call. Running attempts get the grace, then are stopped (killed, cause shutdown). A second
  // call ends the grace at once. `done` is called once everything has ended and is durable, on the loop, never inside this
  // call.
  void stop(unique_function<void(stop_report)> done);
  bool stopping() const noexcept;
  // The operator's word that the wall clock is right although it is behind the newest record: counts as a correction.
  void confirm_wall_clock();

  std::optional<job_status> status(std::string_view job) const;
  std::vector<std::string> jobs() const;  // by name
  // Records of the ledger, newest first: store::runs(). A run is seen once its decision is durable.
  std::vector<ledger::run_record> runs(const ledger::run_query& what);
  looptask::engine::statistics statistics() const;

 private:
  struct core;
  std::unique_ptr<core> core_;
};

}  // namespace looptask::engine
