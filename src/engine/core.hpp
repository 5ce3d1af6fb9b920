#pragma once
// The engine's inside. Work comes in as words (a timer fired, an attempt ended, somebody asks), is noted in the job and judged
// in evaluate(), when the loop has handled everything else of this instant. Only evaluate() calls decide().
//
//   evaluate.cpp   which jobs are judged, in what order, with how much room
//   carry_out.cpp  a decision becomes records, events and planned starts
//   effects.cpp    what follows from durable decisions: starts, events
//   begin.cpp      the ledger's past becomes the present: restart
//   finish.cpp     shutdown
//   engine.cpp     the public face, statistics
//
// Owner: the loop's thread.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/loop.hpp>
#include <looptask/timer.hpp>

#include "engine/clocks.hpp"
#include "engine/engine.hpp"
#include "engine/job.hpp"
#include "engine/journal.hpp"

namespace looptask::engine {

struct engine::core final : public job_waker, public attempt_watcher {
 public:
  core(loop& home, ledger::store& history, options how, listener& told);
  ~core();

  // engine.cpp
  void add(schedule::job_definition what, std::shared_ptr<job_body> body);
  bool remove(std::string_view name);
  bool set_paused(std::string_view name, bool paused);
  bool trigger(std::string_view name, const std::string& run_id);
  bool cancel(std::string_view run_id);
  std::string new_run_id();
  void confirm_wall_clock();
  std::optional<job_status> status(std::string_view name) const;
  std::vector<std::string> names() const;
  looptask::engine::statistics statistics() const;

  // begin.cpp
  void start();
  // finish.cpp
  void stop(unique_function<void(stop_report)> done);

  ledger::store& history() noexcept { return history_; }
  bool stopping() const noexcept { return stopping_; }

 private:
  using jobs_map = std::map<std::string, std::unique_ptr<job>, std::less<>>;

  // evaluate.cpp
  void touch(job& j);
  void touch_all();
  void schedule_evaluation();
  void evaluate();
  void watch(const moment& now);
  void judge(const moment& now);
  void judge_ends(job& j, const moment& now, package& out);
  void judge_all(job& j, const moment& now, package& out);
  void judge_in_turn(const std::vector<std::pair<instant, job*>>& dirty, std::set<job*>& seen, const moment& now, package& out);
  void judge_asked(job& j, const moment& now, package& out);
  void take_asked(job& j, const moment& now, schedule::facts& into);
  instant claim_of(const job& j, const moment& now) const;
  job* next_in_want_of_room(std::set<job*>& seen, std::pair<instant, std::string_view>& passed) const;
  void take_verdict(job& j, schedule::verdict&& v, const moment& now, package& out);
  void arm(job& j, const moment& now);
  void notice_stall(job& j, const moment& now);
  void look_at_wall(const moment& now, bool told);
  void become_plausible(const moment& now, std::optional<schedule::wall_step> correction);
  void take_edit(job& j, const moment& now, package& out);
  void list_taken(job& j, const moment& now);
  void erase_if_gone(job& j, package& out);
  std::uint32_t room() const noexcept;
  void on_job_timer(job& of) override;
  void on_wall_timer();

  // carry_out.cpp
  struct hand;  // carries out one decision
  void carry_out(job& j, const schedule::decision& what, const moment& now, package& out);
  void save(job& j, package& out) const;
  void save_run(live_run& run, package& out) const;

  // effects.cpp
  void deliver(package what);
  void refused(package what, const std::string& why);
  std::optional<pending_event> start_attempt(const planned_start& what);
  void note_start(job& j, live_run& run, const moment& now);
  void tell(const pending_event& what);
  void tell_now(event_kind what, std::string_view job, std::string text);
  void tell_soon(pending_event what);
  void on_attempt_process(live_attempt& of, const process_identity& who) override;
  void on_attempt_unkillable(live_attempt& of, int left) override;
  void on_attempt_end(live_attempt& of, attempt_end how) override;
  void on_misbehaviour(live_attempt& of, std::string what) override;
  void beat();
  void keep_beating();

  // begin.cpp
  void restore(job& j, const ledger::job_record& record);
  void restore_run(job& j, const ledger::run_record& record, const std::optional<instant>& alive, const moment& now);
  void create(job& j, const moment& now);
  void add_outage(job& j, const moment& now);
  void kill_leftovers(const std::string& name, std::vector<process_port::leftover> runs, std::uint32_t failures);
  void check_wall_at_start(instant newest, const moment& now);

  // finish.cpp
  void end_grace();
  void give_up();
  void finish_if_done();
  void report(stop_report what);

  job* find(std::string_view name) const;

  loop& loop_;
  ledger::store& history_;
  const options options_;
  listener& listener_;
  clocks clocks_;
  journal journal_;
  std::shared_ptr<char> living_;  // calls that come home after the engine has gone do nothing
  loop_hold hold_;                // from start() until everything has ended

  jobs_map jobs_;
  std::set<job*> dirty_;  // something was told of them since they were judged
  std::set<job*> fresh_;  // of these, the ones to be looked at even while a batch is on its way
  // Jobs with a slot that waits only for room, by when it came due (elapsed), then name.
  std::map<std::pair<instant, std::string_view>, job*> want_room_;
  std::uint32_t active_ = 0;   // runs that hold a place
  std::uint32_t blocked_ = 0;  // jobs whose leftovers may be alive

  bool started_ = false;
  bool evaluation_scheduled_ = false;
  bool wall_told_ = false;
  std::optional<instant> wall_trusted_from_;  // set: the wall clock is implausible until it shows this
  timer_of<&core::on_wall_timer> wall_timer_;
  std::optional<instant> last_stall_;  // E: when the loop was found to go again
  std::optional<ledger::timeline> unsaved_clock_;

  timer_of<&core::beat> heart_;
  std::optional<instant> last_beat_;

  bool stopping_ = false;
  bool grace_over_ = false;
  bool finished_ = false;
  std::vector<unique_function<void(stop_report)>> on_stopped_;
  timer_of<&core::end_grace> grace_timer_;
  timer_of<&core::give_up> give_up_timer_;

  tally total_;
  std::uint64_t evaluations_ = 0;
};

}  // namespace looptask::engine
