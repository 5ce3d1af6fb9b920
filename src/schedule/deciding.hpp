#pragma once
// One call of decide() at work: definition and facts, the state as decided so far, the decisions. Only decide.cpp and slots.cpp
// use it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/decide.hpp"

namespace looptask::schedule {

class deciding {
 public:
  deciding(const job_definition& definition, job_state&& state, const facts& now);
  verdict run() &&;

 private:
  job_state& state() noexcept { return out_.after; }
  void decide_to(decision what);

  // decide.cpp: runs that are going
  void judge_ends();
  void judge_end(const attempt_finished& end);
  void end_attempt(const active_run& run, const attempt_finished& end);
  void judge_cancels();
  void judge_timeouts();
  void interrupt_all(instant last_sign_of_life);
  void remove();
  void drain();
  void start_retries();
  void stop(const active_run& run, stop_reason why, std::string detail);
  void close(const active_run& run, run_result result, cause why, instant at, std::string detail);
  void plan_wakes();
  bool known_to_have_ended(const active_run& run) const noexcept;

  // slots.cpp: slots that wait, were missed, are due
  enum class placed : std::uint8_t { starts, waits, dropped };
  void start_waiting();
  void judge_slots();
  void judge_unseen();
  void judge_begin(instant begun);
  void judge_steps();
  void lose_waiting();
  void judge_on_time(instant upto);
  void judge_outage(const outage& what);
  void judge_interval();
  void judge_requests();
  void refuse_requests(slot_outcome outcome, cause why, const std::string& detail);
  void note_asked();
  instant nominal_of(const request& asked, std::vector<instant>& given) const;
  instant since(const slot& what) const noexcept;
  bool lost_what_waits() const noexcept;
  bool is_early(const slot& what) const noexcept;
  void correct(const wall_step& step);
  void resume();
  void pause();
  placed place(const slot& what, const std::string& story);
  void open(const slot& what, std::string story);
  void drop(const slot& first, instant last, std::uint64_t count, slot_outcome outcome, cause why, std::string detail);
  void drop_waiting(const slot& what, slot_outcome outcome, cause why, std::string detail);
  void suppress(instant upto, std::string detail);
  bool judges_slots() const noexcept;
  bool follows_runs() const noexcept;  // an `end` or `start` job
  bool place_taken() const;
  cause taken_by() const;
  overlap_policy overlap() const noexcept;
  slot slot_at(instant nominal) const;
  std::optional<instant> pending_interval() const;  // an interval's due time that has come
  instant now_for(run_kind kind) const noexcept;

  const job_definition& definition_;
  const facts& now_;
  const bool by_wall_;
  const bool clock_known_;  // the clock of the trigger can be believed
  const instant here_;      // now, on the timeline of the trigger
  std::uint32_t room_;
  verdict out_;
};

}  // namespace looptask::schedule
