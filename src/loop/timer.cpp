#include <looptask/loop.hpp>
#include <looptask/timer.hpp>

#include <algorithm>
#include <utility>

#include "loop/callback_timer.hpp"
#include "loop/timer_queue.hpp"

namespace looptask {

void timer::arm(monotonic_time when) {
  LOOPTASK_ASSERT(loop_ != nullptr, "timer armed without a loop, or after its end");
  loop_->assert_owner();
  if (armed()) loop_->timers_->erase(*this);
  // A deadline that has passed counts as now: among those it is in order of arming.
  loop_->timers_->insert(*this, loop_->running_ ? std::max(when, loop_->now_) : when);
}

void timer::arm_after(duration delay) {
  LOOPTASK_ASSERT(loop_ != nullptr, "timer armed without a loop, or after its end");
  arm(loop_->after(delay));
}

void timer::cancel() noexcept {
  if (!armed()) return;
  loop_->assert_owner();
  loop_->timers_->erase(*this);
}

timer_handle::timer_handle(detail::callback_timer& of) noexcept : timer_(&of) { of.handle_ = this; }

void timer_handle::take(timer_handle& other) noexcept {
  timer_ = std::exchange(other.timer_, nullptr);
  if (timer_ != nullptr) timer_->handle_ = this;
}

void timer_handle::release() noexcept {
  if (timer_ != nullptr) std::exchange(timer_, nullptr)->handle_ = nullptr;
}

void timer_handle::cancel() noexcept { delete timer_; }  // which empties timer_

}  // namespace looptask
