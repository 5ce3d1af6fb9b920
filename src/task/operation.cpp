#include <looptask/operation.hpp>

#include <looptask/scope.hpp>

namespace looptask {

namespace detail {

bool fiber::is_cancelled() const noexcept { return scope_ != nullptr && scope_->is_cancelled(); }

void fiber::strike() noexcept {
  operation* const what = waits_for_;
  if (what == nullptr || !is_cancelled() || !what->withdraw()) return;
  what->state_ = operation::state::cancelled;
  wake();
}

void fiber::begin(promise_base& outermost, std::coroutine_handle<> frame) noexcept {
  loop_.assert_owner();
  outermost.runs_on = this;
  innermost_ = &outermost;
  next_ = frame;
  loop_.call_soon(*this);
}

void fiber::run() {
  LOOPTASK_ASSERT(running == nullptr, "task resumed from inside another");
  running = this;
  parked_ = false;
  while (!parked_) {
    const std::coroutine_handle<> frame = std::exchange(next_, nullptr);
    LOOPTASK_ASSERT(frame, "a task awaited something that is neither a task nor a looptask::operation");
    frame.resume();
  }
  running = nullptr;
  if (done_) ended();
}

void fiber::destroy_frames() noexcept {
  if (done_) return;
  LOOPTASK_ASSERT(running != this, "task destroyed from inside");
  while (await_link* const link = innermost_->awaited_by) {
    innermost_ = link->parent;
    std::exchange(link->child_frame, nullptr).destroy();  // and with it `link`'s child, but not `link`
  }
}

}  // namespace detail

loop& this_loop() noexcept {
  const detail::fiber* const here = detail::fiber::current();
  LOOPTASK_ASSERT(here != nullptr, "this_loop() outside of a task");
  return here->loop();
}

void operation::enter_uncancelled() noexcept {
  fiber_ = detail::fiber::current();
  LOOPTASK_ASSERT(fiber_ != nullptr, "operation awaited outside of a task");
}

bool operation::strikes_now() noexcept {
  enter_uncancelled();
  if (!fiber_->is_cancelled()) return false;
  state_ = state::cancelled;
  return true;
}

}  // namespace looptask
