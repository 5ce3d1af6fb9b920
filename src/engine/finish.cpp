// The end of a service: nothing starts any more, what is going gets its grace, then is stopped; what ended becomes durable.
#include <utility>

#include "engine/core.hpp"

namespace looptask::engine {
namespace {

// Beyond kill_after: for KILL to take, and for the ledger to come back.
constexpr duration patience = std::chrono::seconds(5);

}  // namespace

void engine::core::stop(unique_function<void(stop_report)> done) {
  if (done) on_stopped_.push_back(std::move(done));
  if (finished_ || !started_) {
    stopping_ = finished_ = true;
    return report({});
  }
  if (std::exchange(stopping_, true)) return end_grace();
  if (options_.shutdown_grace <= microseconds(0)) {
    end_grace();
  } else {
    grace_timer_.arm_after(options_.shutdown_grace);
  }
  touch_all();
}

void engine::core::end_grace() {
  if (finished_ || std::exchange(grace_over_, true)) return;
  grace_timer_.cancel();
  give_up_timer_.arm_after(options_.stop_kill_cap + patience);
  // Attempts that are being stopped for another reason may have been given more time than a shutdown has.
  for (const auto& [name, j] : jobs_) {
    for (const schedule::active_run& run : j->state.active) {
      live_run* const live = j->find(run.what.id);
      if (run.phase != schedule::run_phase::stopping || live == nullptr || live->attempt == nullptr) continue;
      live->attempt->stop(*live->body, options_.stop_kill_cap);
    }
  }
  touch_all();
}

void engine::core::finish_if_done() {
  if (stopping_ && blocked_ > 0 && !give_up_timer_.armed()) give_up_timer_.arm_after(options_.shutdown_grace + patience);
  if (!stopping_ || finished_ || active_ > 0) return;
  if (!journal_.idle()) {
    if (!give_up_timer_.armed()) give_up_timer_.arm_after(patience);
    return;
  }
  if (!dirty_.empty() || evaluation_scheduled_) return;
  history_.alive(clocks_.now().elapsed);
  report({});
}

void engine::core::give_up() {
  if (finished_) return;
  stop_report left;
  for (const auto& [name, j] : jobs_) {
    for (const auto& run : j->runs) {
      if (j->blocked || (run->attempt != nullptr && !run->attempt->ended())) {
        ++left.attempts_left;
      } else {
        ++left.runs_unrecorded;
      }
    }
  }
  if (!journal_.idle()) left.runs_unrecorded += journal_.runs_waiting();
  if (left.attempts_left > 0)
    left.message = std::to_string(left.attempts_left) + " attempts did not end although they were killed";
  if (left.runs_unrecorded > 0) {
    left.message += (left.message.empty() ? "" : "; ") + std::to_string(left.runs_unrecorded) +
                    " ended runs could not be recorded, the ledger does not take them";
  }
  report(std::move(left));
}

void engine::core::report(stop_report what) {
  finished_ = true;
  for (const auto& [name, j] : jobs_) j->timer.cancel();
  grace_timer_.cancel();
  give_up_timer_.cancel();
  wall_timer_.cancel();
  heart_.cancel();
  hold_ = loop_hold();
  for (unique_function<void(stop_report)>& done : std::exchange(on_stopped_, {})) {
    loop_.call_soon([done = std::move(done), what]() mutable { done(std::move(what)); });
  }
}

}  // namespace looptask::engine
