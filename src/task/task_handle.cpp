#include <looptask/task_handle.hpp>

#include "task/cancellation.hpp"

namespace looptask::detail {

looptask::loop& started::loop_of(cancel_scope& scope) noexcept { return scope.loop_; }

void started::begin_in(cancel_scope* around) noexcept {
  if (around != nullptr) {
    LOOPTASK_ASSERT(around->runs_in_ == nullptr && !around->of_group_,
                    "task started in a scope that a task runs in (start it in a task_group there)");
    own_.attach_to(around);
  }
  adopt(own_, *this);
}

void started::cancel() noexcept {
  if (!done_) own_.cancel();
}

void started::finished() noexcept {
  done_ = true;
  gave_way_ = own_.is_cancelled() && is_cancellation(error());
  own_.list_node<scope_tag>::unlink();  // whoever is around may go now
  own_.parent_ = nullptr;
  own_.keep_open();
  if (joined_by_ != nullptr) std::exchange(joined_by_, nullptr)->complete();
  drop_owner();
}

void started::discard() noexcept {
  if (!done_) {
    done_ = true;  // before frames go, which may hold the handle
    destroy_frames();
    own_.list_node<scope_tag>::unlink();
    own_.parent_ = nullptr;
    return drop_owner();
  }
  taken_ = true;  // the loop runs nothing more, its error handler included
}

void started::drop_owner() noexcept {
  if (--owners_ != 0) return;
  report_if_lost();
  delete this;
}

void started::report_if_lost() noexcept {
  if (taken_ || gave_way_) return;
  std::exception_ptr lost = error();
  if (lost == nullptr) return;
  if (debugging()) report_unawaited(origin_of(*this), lost);
  loop().report(std::move(lost));
}

join_wait::~join_wait() {
  if (of_.joined_by_ == this) of_.joined_by_ = nullptr;
  of_.drop_owner();
}

bool join_wait::await_ready() noexcept {
  LOOPTASK_ASSERT(of_.joined_by_ == nullptr, "task joined by two others at once");
  if (strikes_now()) return true;
  return of_.done_ && spend();
}

void join_wait::start() {
  if (of_.done_) return complete();  // the turn's budget was spent
  of_.joined_by_ = this;
}

bool join_wait::withdraw() noexcept {
  of_.joined_by_ = nullptr;
  return true;
}

}  // namespace looptask::detail
