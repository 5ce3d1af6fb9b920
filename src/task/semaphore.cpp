#include <looptask/semaphore.hpp>

namespace looptask {

std::optional<semaphore::permit> semaphore::try_acquire() noexcept {
  if (!take()) return std::nullopt;
  return permit(*this);
}

void semaphore::put_back() noexcept {
  acquire_await* const next = waiters_.front();
  if (next == nullptr) {
    ++available_;
    return;
  }
  next->leave_queue();
  next->holds_ = true;
  next->complete();
}

void semaphore::acquire_await::start() {
  if (of_.take()) {  // the turn's budget was spent, not the permits
    holds_ = true;
    return complete();
  }
  of_.waiters_.push_back(*this);
  ++of_.waiting_;
}

}  // namespace looptask
