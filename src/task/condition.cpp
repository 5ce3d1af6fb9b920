#include <looptask/condition.hpp>

#include <utility>

namespace looptask {

void condition::notify_one() noexcept {
  if (!waiters_.empty()) static_cast<wait_await*>(waiters_.front())->notify(wait_await::step::notified_alone);
}

void condition::notify_all() noexcept {
  while (!waiters_.empty()) static_cast<wait_await*>(waiters_.front())->notify(wait_await::step::notified_with_all);
}

bool condition::wait_await::await_ready() noexcept { return strikes_now(); }

void condition::wait_await::start() {
  mutex_ = std::exchange(held_.of_, nullptr);
  of_.waiters_.enter(*this);
  mutex_->put_back();
}

void condition::wait_await::notify(step how) noexcept {
  of_.waiters_.leave(*this);
  ++of_.notified_;
  step_ = how;
  if (take_mutex()) complete();
}

bool condition::wait_await::take_mutex() noexcept {
  if (mutex_->take()) return true;
  mutex_->waiters_.enter(*this);
  return false;
}

// Taken back is only the wait for the notification; the mutex is waited for all the same.
bool condition::wait_await::withdraw() noexcept {
  const step before = std::exchange(step_, step::cancelled);
  if (before == step::waits) {
    of_.waiters_.leave(*this);
    return take_mutex();
  }
  if (before == step::notified_alone) of_.notify_one();
  return false;
}

void condition::wait_await::await_resume() {
  if (mutex_ != nullptr) held_.of_ = std::exchange(mutex_, nullptr);
  if (step_ == step::cancelled) throw cancelled();  // though the lock may have come as a result
  finish();
}

// With its loop: before it was notified, on its way back, or when the mutex was its own again.
condition::wait_await::~wait_await() {
  if (mutex_ == nullptr) return;
  if (!in_line()) {
    mutex_->put_back();
  } else if (step_ == step::waits) {
    of_.waiters_.leave(*this);
  } else {
    mutex_->waiters_.leave(*this);
  }
  if (step_ == step::notified_alone) of_.notify_one();
}

}  // namespace looptask
