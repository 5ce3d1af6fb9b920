#pragma once
// The ledger: what was decided, before it is done. One interface, several stores (memory, SQLite, later PostgreSQL), one
// conformance suite (tests/ledger/conformance.hpp) that each store passes.
//
// Everything the engine does goes through submit(): a batch is durable as a whole or not at all, batches become durable
// in the order submitted, and `done` is called on the loop's thread after that, in the same order, never inside submit().
// Stores share one sync among the batches that are waiting. Reading functions see all batches whose `done` has been called.
//
// What can fail, as told to `done`:
//   refused  the batch would change a closed record. It alone fails; submitting it again is useless.
//   else     the storage failed (disk full, read-only, locked, input/output error). All batches that were waiting when it
//            did fail too, in their order: nothing overtakes. Submitted again, in order, they succeed once the cause is gone.
//
// Owner: the loop's thread. A store with a thread of its own comes home through the loop it was given.
//
//   auto store = ledger::make_memory_store(loop);
//   ledger::batch b;
//   b.runs.push_back(claimed);
//   store->submit(std::move(b), [&](ledger::commit_error e) { if (!e.failed) start(); });
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/host.hpp>
#include <looptask/run.hpp>
#include <looptask/time.hpp>

#include "base/shared_text.hpp"

namespace looptask::ledger {

struct attempt_record {
  std::uint32_t n = 1;
  instant started{};  // wall clock
  std::optional<instant> ended;
  std::optional<run_result> result;
  std::optional<int> exit_code;
  std::optional<int> signal;
  microseconds cpu{0};       // user + system
  std::int64_t max_rss = 0;  // bytes; 0: not known
  std::optional<process_identity> process;
  shared_text output_head;           // the first bytes of the output, up to half of history.output_limit
  shared_text output_tail;           // the last ones, as far as they are not in the head
  std::uint64_t output_dropped = 0;  // bytes between head and tail that were not kept

  bool operator==(const attempt_record&) const = default;
};

// How far a slot has come. `closed` is terminal: a closed record is never changed again.
enum class record_phase : std::uint8_t { waiting, open, closed };

// One slot, or with `slots` > 1 a range of consecutive slots of one job that share outcome and cause (nominal..nominal_last).
struct run_record {
  run_key key;
  std::string run_id;  // ULID; empty for slots that did not run
  record_phase phase = record_phase::closed;
  instant due{};
  instant decided{};  // wall clock
  std::optional<instant> started;
  std::optional<instant> ended;
  std::optional<microseconds> lateness;      // started - due, on the job's own timeline
  slot_outcome outcome = slot_outcome::ran;  // of an open record: ran; of a waiting one: not yet meaningful
  std::optional<run_result> result;
  cause why = cause::none;
  std::string detail;  // one sentence with the values compared; may be empty
  std::uint64_t slots = 1;
  instant nominal_last{};                // the last slot of a range; stores keep key.nominal here when slots == 1
  std::vector<attempt_record> attempts;  // by number

  bool operator==(const run_record&) const = default;
};

// What must survive of a job besides its records. Instants marked E are on the elapsed timeline, W on the wall clock, T on
// that of the job's trigger.
struct job_record {
  std::string name;
  std::string trigger;    // canonical text of the trigger; a change of it is an edit
  instant judged_from{};  // T: creation, edit or enabling; slots before it never existed
  instant anchor{};       // E: slot 0 of a grid, first due time of end and start
  instant watermark{};    // T: every slot up to here, included, has a record (waiting and open ones count)
  instant wall_high{};    // W: latest wall time seen (no slot up to here comes again without a correction)
  std::uint32_t epoch = 0;
  std::optional<instant> last_start;  // E
  std::optional<instant> last_end;    // E
  bool paused = false;
  std::uint64_t runs = 0;      // ended runs, of all kinds
  std::uint64_t failures = 0;  // of these, the ones that did not end in success
  std::string last_error;

  bool operator==(const job_record&) const = default;
};

// The elapsed timeline of a ledger: elapsed = boot clock + offset while boot_id is the same.
struct timeline {
  std::string boot_id;
  microseconds offset{0};

  bool operator==(const timeline&) const = default;
};

// Applied together, in this order. Records are inserted, or replace the one with the same key; attempts of a record replace
// those with the same number and never vanish, so a replacement need not repeat attempts that did not change. Job records
// replace the one with the same name.
struct batch {
  std::optional<timeline> clock;
  std::vector<job_record> jobs;
  std::vector<std::string> removed_jobs;  // job_records to delete; their run records stay
  std::vector<run_record> runs;

  bool empty() const noexcept { return !clock && jobs.empty() && removed_jobs.empty() && runs.empty(); }
};

struct commit_error {
  bool failed = false;
  std::string message;   // one line: what, where, why; empty on success
  bool refused = false;  // it would change a closed record: not to be submitted again
};

// What a restart begins with. Jobs by name; unfinished records in order of decision, with the output of their attempts.
struct snapshot {
  std::optional<timeline> clock;
  std::optional<instant> alive;  // E: last sign of life of the previous owner
  std::vector<job_record> jobs;
  std::vector<run_record> unfinished;  // waiting and open records
};

struct run_query {
  std::optional<std::string> job = std::nullopt;
  // nominal >= since, each record on the timeline of its own job (T of job_record): of all jobs together, those on an interval
  // are compared by elapsed time, which is the wall clock unless that was set.
  std::optional<instant> since = std::nullopt;
  std::size_t limit = 0;     // newest first; 0: all
  bool ran_only = true;      // false: with the slots that did not run, or wait
  bool with_output = false;  // false: output_head and output_tail are empty
};

struct statistics {
  std::uint64_t batches = 0;  // submitted
  std::uint64_t commits = 0;  // durable syncs that carried them
  std::uint64_t errors = 0;   // batches that failed
};

class store {
 public:
  virtual ~store() = default;   // makes durable what was submitted; calls no `done` any more
  virtual snapshot load() = 0;  // throws std::runtime_error with path and reason
  // `done` is called exactly once while the store lives, also when whoever submitted has gone: let it check.
  virtual void submit(batch what, unique_function<void(commit_error)> done) = 0;
  // A sign of life, at most as durable as the process's death needs; cheap enough for once a second. A failure is counted
  // and otherwise ignored: the next one stands for it.
  virtual void alive(instant elapsed) = 0;
  // Calls `visit` for each record, newest nominal first, equal ones in order of decision, newest first, until it returns
  // false. Memory does not grow with the number of records. `visit` must not use the store. Throws as load() does.
  virtual void visit_runs(const run_query& what, unique_function<bool(run_record)> visit) = 0;
  std::vector<run_record> runs(const run_query& what);  // all of visit_runs()
  virtual ledger::statistics statistics() const = 0;
};

// Keeps everything in memory; `done` is called through `home`. Several engines may use it one after another: that is what a
// restart in the simulator is.
std::unique_ptr<store> make_memory_store(inbox& home);

}  // namespace looptask::ledger
