#include "loop/mailbox.hpp"

#include <thread>
#include <utility>

namespace looptask {

void mailbox::wake_if_asleep(std::unique_lock<std::mutex>& lock) noexcept {
  if (!std::exchange(asleep_, false)) return;
  waking_.fetch_add(1, std::memory_order_relaxed);  // under the lock: close() cannot have looked yet
  lock.unlock();
  reactor_.wake();
  waking_.fetch_sub(1, std::memory_order_release);
}

bool mailbox::post(unique_function<void()> work) {
  std::unique_lock lock(mutex_);
  if (closed_) {
    lock.unlock();  // the work is destroyed outside of the lock: it may post
    work.reset();
    return false;
  }
  waiting_.push_back(std::move(work));
  filled_.store(true, std::memory_order_relaxed);
  wake_if_asleep(lock);
  return true;
}

bool mailbox::stop() noexcept {
  std::unique_lock lock(mutex_);
  if (closed_) return false;
  stop_.store(true, std::memory_order_relaxed);
  wake_if_asleep(lock);
  return true;
}

void mailbox::take(std::vector<unique_function<void()>>& empty) {
  const std::lock_guard lock(mutex_);
  waiting_.swap(empty);
  filled_.store(false, std::memory_order_relaxed);
}

bool mailbox::fall_asleep() noexcept {
  const std::lock_guard lock(mutex_);
  asleep_ = waiting_.empty() && !stop_.load(std::memory_order_relaxed);
  return asleep_;
}

void mailbox::wake_up() noexcept {
  const std::lock_guard lock(mutex_);
  asleep_ = false;
}

void mailbox::close() noexcept {
  std::vector<unique_function<void()>> left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    asleep_ = false;
    waiting_.swap(left);
    filled_.store(false, std::memory_order_relaxed);
  }
  while (waking_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

}  // namespace looptask
