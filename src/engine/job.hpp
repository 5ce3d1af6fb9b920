#pragma once
// One job inside the engine: its definition, its state as decided, what has been told since the last decision, and its runs.
// Plain data of the engine's core; no rule lives here. Owner: the loop's thread.
//
//   j.told.cancels.push_back(run.id);  // whoever learns something of it notes that in `told`
//   touch(j);                          // the next evaluation decides
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <looptask/timer.hpp>

#include "engine/engine.hpp"
#include "engine/live_attempt.hpp"
#include "schedule/decide.hpp"

namespace looptask::engine {

// A run that is open in the ledger, or about to be.
struct live_run {
  schedule::slot_id id;
  // As last submitted, or about to be. Of its attempts the current one alone, without its output: the ledger keeps the others,
  // so a run costs the same however often it is tried again.
  ledger::run_record record;
  std::vector<ledger::attempt_record> changed;  // attempts of which the ledger does not know all yet, with their output
  std::shared_ptr<job_body> body;               // of the current attempt
  std::unique_ptr<live_attempt> attempt;
  std::optional<attempt_end> ended;  // what the attempt said, until it is judged
  std::string error;                 // of the last attempt that failed
};

struct job;

// Who hears of a job's timer.
class job_waker {
 public:
  virtual void on_job_timer(job& of) = 0;

 protected:
  ~job_waker() = default;
};

struct job {
  job(loop& home, job_waker& waker, std::string its_name) : name(std::move(its_name)), waker_(waker), timer(home, *this) {}

  const std::string name;
  schedule::job_definition definition;
  std::shared_ptr<job_body> body;
  std::string trigger;  // its text, as in the ledger
  schedule::job_state state;
  schedule::facts told;  // since the last decision; the moment, room and so on are filled in when it is asked for

  struct edit {
    schedule::job_definition definition;
    std::shared_ptr<job_body> body;
  };
  std::optional<edit> next_definition;
  bool added_again = false;  // while it was being removed: next_definition is that of a new job

  std::vector<std::unique_ptr<live_run>> runs;
  bool blocked = false;  // leftovers of an earlier life may be alive; its runs are not judged until they are not
  bool removing = false;
  bool unsaved = false;  // the job's record knows more than the ledger

  // What the last verdict asked for.
  std::optional<instant> wake_elapsed, wake_wall, next_due, room_from;
  // The slot for which it wanted to be woken: when that will be on the elapsed timeline, and on its own.
  struct expected_slot {
    instant elapsed;
    instant nominal;
  };
  std::optional<expected_slot> expected;

  // For statistics.
  std::uint64_t runs_ended = 0, failures = 0;
  std::string last_error;
  std::optional<instant> last_start;  // W
  std::optional<microseconds> last_duration;
  std::deque<recent_run> recent;
  tally since_start;

  live_run* find(const schedule::slot_id& id) noexcept;

 private:
  void on_timer() { waker_.on_job_timer(*this); }
  job_waker& waker_;

 public:
  timer_of<&job::on_timer> timer;
};

}  // namespace looptask::engine
