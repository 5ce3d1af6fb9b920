#include "engine/live_attempt.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/thrown_text.hpp"

namespace looptask::engine {
namespace {

attempt_end start_failure(std::string why) {
  attempt_end end;
  end.result = run_result::start_failed;
  end.error = std::move(why);
  return end;
}

}  // namespace

live_attempt::~live_attempt() {
  deaf_ = true;  // the destructor of its work may still speak
  work_.reset();
}

void live_attempt::start(job_body& body, const std::string& run_id) {
  try {
    work_ = body.start({key_, run_id, n_}, *this);
  } catch (...) {
    std::string why = thrown_text(std::current_exception());
    if (!ended_) on_end(start_failure(std::move(why)));
    return;
  }
  if (work_ == nullptr && !ended_) on_end(start_failure("the job's body started nothing"));
}

void live_attempt::stop(job_body& body, std::optional<microseconds> cap) {
  if (ended_ || work_ == nullptr) return;
  microseconds kill_after = std::chrono::seconds(10);
  try {
    kill_after = body.kill_after();
  } catch (...) {
    watcher_.on_misbehaviour(*this, "kill_after() threw: " + thrown_text(std::current_exception()));
  }
  try {
    work_->stop(cap ? std::min(*cap, kill_after) : kill_after);
  } catch (...) {
    watcher_.on_misbehaviour(*this, "stop() threw: " + thrown_text(std::current_exception()));
  }
}

void live_attempt::on_process(const process_identity& who) {
  if (!ended_ && !deaf_) watcher_.on_attempt_process(*this, who);
}

void live_attempt::on_unkillable(int left) {
  if (!ended_ && !deaf_) watcher_.on_attempt_unkillable(*this, left);
}

void live_attempt::on_end(attempt_end how) {
  if (deaf_) return;
  if (std::exchange(ended_, true)) {
    watcher_.on_misbehaviour(*this, "it told its end twice; the second is ignored");
    return;
  }
  watcher_.on_attempt_end(*this, std::move(how));
}

}  // namespace looptask::engine
