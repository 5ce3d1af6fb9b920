#include <looptask/semaphore.hpp>

namespace looptask {

std::optional<semaphore::permit> semaphore::try_acquire(std::size_t count) noexcept {
  LOOPTASK_ASSERT(count > 0, "semaphore asked for no permit");
  if (!may_take(count)) return std::nullopt;
  take(count);
  return permit(*this, count);
}

void semaphore::hand_out() noexcept {
  while (auto* const next = static_cast<acquire_await*>(waiters_.front())) {
    if (next->count_ > available_) return;
    take(next->count_);
    waiters_.wake(*next);
  }
}

void semaphore::acquire_await::start() {
  if (!of_.may_take(count_)) return enter();
  of_.take(count_);  // the turn's budget was spent, not the permits
  complete();
}

// Those behind may have waited only because this one wanted more.
bool semaphore::acquire_await::withdraw() noexcept {
  leave();
  of_.hand_out();
  return true;
}

}  // namespace looptask
