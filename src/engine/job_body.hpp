#pragma once
// What a run *is*, seen from the engine: something that can be started and asked to stop. Implemented in src/jobs (commands,
// coroutines, callbacks) and by tests. Owner: the loop's thread.
//
//   struct greeting final : job_body {
//     std::unique_ptr<attempt> start(const attempt_context& who, attempt_events& told) override;  // told.on_end(...) later
//     microseconds kill_after() const override { return std::chrono::seconds(10); }
//   };
#include <memory>
#include <optional>
#include <string>

#include <looptask/host.hpp>
#include <looptask/run.hpp>

#include "base/shared_text.hpp"

namespace looptask::engine {

// Who an attempt is: what a command finds as LOOPTASK_JOB, _NOMINAL, _RUN_ID and _ATTEMPT.
struct attempt_context {
  // key.nominal is on the timeline of the job's trigger: wall clock for cron, at and requests by hand, elapsed time for
  // intervals (which began as the wall clock of that ledger's first start and does not follow when the wall clock is set).
  run_key key;
  std::string run_id;         // ULID
  std::uint32_t attempt = 1;  // from 1
};

// How an attempt ended by itself. The engine adds what only it knows: ended after its timeout, cancelled, or at shutdown.
struct attempt_end {
  run_result result = run_result::success;  // success, failed or start_failed
  std::string error;                        // one line; empty on success
  std::optional<int> exit_code;
  std::optional<int> signal;
  microseconds cpu{0};       // user + system time; 0 also where nothing measures it
  std::int64_t max_rss = 0;  // peak of memory in bytes; 0: not known (process_exit::max_rss says when)
  shared_text output_head, output_tail;
  std::uint64_t output_dropped = 0;
  bool leftover_killed = false;  // processes it left behind had to be killed
  // When the work ended, as far as known (process_exit::at): a loop that stood still hears of it later. Never later than
  // now; absent: now.
  std::optional<monotonic_time> ended;
};

class attempt_events {
 public:
  virtual void on_process(const process_identity& who) = 0;  // at most once, before on_end; so that a restart finds survivors
  // Some of it would not die although it was killed, `left` processes. Killing goes on, and on_end still follows, when nothing
  // is left. May come again.
  virtual void on_unkillable(int left) = 0;
  virtual void on_end(attempt_end how) = 0;  // exactly once, never from inside start(); the attempt may be destroyed inside it

 protected:
  ~attempt_events() = default;
};

class attempt {
 public:
  virtual ~attempt() = default;
  // Asks it to end: the polite way first, by force after `kill_after`. Idempotent; a shorter kill_after counts. on_end still
  // follows, when nothing is left of it.
  virtual void stop(microseconds kill_after) = 0;
};

class job_body {
 public:
  virtual ~job_body() = default;
  // `events` outlives the attempt. A throw counts as start_failed and concerns this attempt alone.
  virtual std::unique_ptr<attempt> start(const attempt_context& context, attempt_events& events) = 0;
  // How long after stop() force may be used, unless something shorter is asked for.
  virtual microseconds kill_after() const = 0;
};

}  // namespace looptask::engine
