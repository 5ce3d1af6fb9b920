#include <looptask/operation.hpp>

#include <looptask/scope.hpp>

namespace looptask {

namespace detail {

cancel_scope* fiber::scope() const noexcept { return static_cast<cancel_scope*>(scope_); }
void fiber::set_scope(cancel_scope* scope) noexcept { scope_ = scope; }

void fiber::strike() noexcept {
  operation* const what = waits_for_;
  if (what == nullptr || !is_cancelled() || !what->withdraw()) return;
  what->state_ = operation::state::cancelled;
  wake();
}

fiber::fiber(looptask::loop& where, cancel_scope* scope, frame_handle outermost) noexcept
    : loop_(where), scope_(scope), next_(outermost) {
  loop_.assert_owner();
  if (running != nullptr && running->bindings_ != nullptr) inherit(*running);
  if (debugging()) note_begun(&outermost.promise(), *this);
}

void fiber::destroy_frames() noexcept {
  if (!next_) return;
  LOOPTASK_ASSERT(running != this, "task destroyed from inside");
  while (await_link* const link = next_.promise().awaited_by) {
    next_ = link->parent_frame;
    std::exchange(link->child_frame, nullptr).destroy();  // and with it `link`'s child, but not `link`
  }
  std::exchange(next_, nullptr).destroy();
  if (bindings_ != nullptr) drop_bindings();
}

void fiber::run() {
  LOOPTASK_ASSERT(running == nullptr, "task resumed from inside another");
  running = this;
  parked_ = false;
  while (!parked_) {
    const frame_handle frame = std::exchange(next_, nullptr);
    LOOPTASK_ASSERT(frame, "a task awaited something that is neither a task nor a looptask::operation");
    frame.resume();
  }
  running = nullptr;
  if (done_) ended();
}

}  // namespace detail

loop& this_loop() noexcept {
  const detail::fiber* const here = detail::fiber::current();
  LOOPTASK_ASSERT(here != nullptr, "this_loop() outside of a task");
  return here->loop();
}

}  // namespace looptask
