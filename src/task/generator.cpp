#include <looptask/generator.hpp>

namespace looptask::detail {

void generator_frame::take(generator_frame& other) noexcept {
  frame_ = std::exchange(other.frame_, nullptr);
  promise_ = std::exchange(other.promise_, nullptr);
  step_ = std::exchange(other.step_, nullptr);
  if (step_ != nullptr) step_->of_ = this;
}

void generator_frame::destroy() noexcept {
  if (step_ != nullptr) std::exchange(step_, nullptr)->of_ = nullptr;
  promise_ = nullptr;
  if (const frame_handle frame = std::exchange(frame_, nullptr)) frame.destroy();
}

// With its loop, perhaps, while the body waits.
generator_step::~generator_step() {
  if (runs_ != nullptr && of_ != nullptr) {
    of_->step_ = nullptr;
    of_->promise_ = nullptr;
  }
  if (child_frame) child_frame.destroy();
}

bool generator_step::ready_for_next() noexcept {
  const fiber* const here = fiber::current();
  LOOPTASK_ASSERT(here != nullptr, "generator awaited outside of a task");
  LOOPTASK_ASSERT(of_->step_ == nullptr, "generator asked for the next value while it makes one");
  struck_ = here->is_cancelled();
  return struck_ || of_->promise_ == nullptr;
}

bool generator_step::ready_to_close() noexcept {
  LOOPTASK_ASSERT(fiber::current() != nullptr, "generator awaited outside of a task");
  LOOPTASK_ASSERT(of_->step_ == nullptr, "generator closed while it makes a value");
  if (of_->promise_ == nullptr) return true;
  if (!of_->promise_->begun) {
    of_->destroy();
    return true;
  }
  of_->promise_->closing = true;
  return false;
}

void generator_step::enter() noexcept {
  runs_ = of_->promise_;
  of_->step_ = this;
  const frame_handle frame = std::exchange(of_->frame_, nullptr);
  child_frame = frame;
  runs_->begun = true;
  runs_->awaited_by = this;
  fiber::current()->hand_over(frame);
}

generator_promise_base* generator_step::leave() {
  if (struck_) throw cancelled();
  if (runs_ == nullptr) return nullptr;
  if (!child_frame.done()) {
    if (of_ == nullptr) return runs_;
    of_->frame_ = frame_handle::from_address(std::exchange(child_frame, nullptr).address());
    of_->step_ = nullptr;
    return std::exchange(runs_, nullptr);
  }
  if (of_ != nullptr) {
    of_->step_ = nullptr;
    of_->promise_ = nullptr;
  }
  const std::exception_ptr error = std::move(std::exchange(runs_, nullptr)->error);
  std::exchange(child_frame, nullptr).destroy();
  if (error != nullptr) std::rethrow_exception(error);
  return nullptr;
}

void close_await::await_resume() {
  try {
    leave();
  } catch (const cancelled&) {
    if (fiber::current()->is_cancelled()) throw;  // else it is the one that co_yield has thrown
  }
}

}  // namespace looptask::detail
