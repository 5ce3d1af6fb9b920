#pragma once
// The ledger: what was decided, before it is done. One interface, several stores (memory, SQLite, later PostgreSQL), one
// conformance suite (tests/ledger/conformance.hpp) that each store passes.
//
// Everything the engine does goes through submit(): a batch is durable as a whole or not at all, batches become durable
// in the order submitted, and `done` is called on the loop's thread after that. Stores share one sync among the batches that
// are waiting. Reading functions see all batches whose `done` has been called.
//
// Owner: the loop's thread. A store with a thread of its own comes home through the inbox it was given.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/host.hpp>
#include <looptask/run.hpp>
#include <looptask/time.hpp>

namespace looptask::ledger {

struct attempt_record {
  std::uint32_t n = 1;
  instant started{};  // wall clock
  std::optional<instant> ended;
  std::optional<run_result> result;
  std::optional<int> exit_code;
  std::optional<int> signal;
  microseconds cpu{0};
  std::int64_t max_rss = 0;  // bytes
  std::optional<process_identity> process;
  std::string output_head;           // the first bytes of the output, up to half of history.output_limit
  std::string output_tail;           // the last ones, as far as they are not in the head
  std::uint64_t output_dropped = 0;  // bytes between head and tail that were not kept
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
  instant nominal_last{};  // equal to key.nominal unless slots > 1
  std::vector<attempt_record> attempts;
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
};

// The elapsed timeline of a ledger: elapsed = boot clock + offset while boot_id is the same.
struct timeline {
  std::string boot_id;
  microseconds offset{0};
};

// Applied together. Records are inserted, or replace the one with the same key; attempts of a record replace those with the
// same number and never vanish.
struct batch {
  std::optional<timeline> clock;
  std::vector<job_record> jobs;
  std::vector<std::string> removed_jobs;  // job_records to delete; their run records stay
  std::vector<run_record> runs;

  bool empty() const noexcept { return !clock && jobs.empty() && removed_jobs.empty() && runs.empty(); }
};

struct commit_error {
  bool failed = false;
  std::string message;
};

// What a restart begins with.
struct snapshot {
  std::optional<timeline> clock;
  std::optional<instant> alive;  // E: last sign of life of the previous owner
  std::vector<job_record> jobs;
  std::vector<run_record> unfinished;  // waiting and open records
};

struct run_query {
  std::optional<std::string> job;
  std::optional<instant> since;  // by nominal
  std::size_t limit = 0;         // newest first; 0: all
  bool ran_only = true;          // false: with the slots that did not run
  bool with_output = false;
};

struct statistics {
  std::uint64_t batches = 0;
  std::uint64_t commits = 0;  // durable syncs that carried them
  std::uint64_t errors = 0;
};

class store {
 public:
  virtual ~store() = default;   // makes durable what was submitted; calls no `done` any more
  virtual snapshot load() = 0;  // throws std::runtime_error with path and reason
  virtual void submit(batch what, unique_function<void(commit_error)> done) = 0;
  // A sign of life, at most as durable as the process's death needs; cheap enough for once a second.
  virtual void alive(instant elapsed) = 0;
  // Newest nominal first; equal ones in order of decision, newest first.
  virtual std::vector<run_record> runs(const run_query& what) = 0;
  virtual ledger::statistics statistics() const = 0;
};

// Keeps everything in memory; `done` is called through `home`, so never inside submit(). Several engines may use it one after
// another: that is what a restart in the simulator is.
std::unique_ptr<store> make_memory_store(inbox& home);

}  // namespace looptask::ledger
