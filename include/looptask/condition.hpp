#pragma once
// Waits, with a mutex unlocked, until somebody says that what the mutex guards has changed.
//
// Owner: the loop's thread. wait() gives the mutex up, waits for a notification, and has the mutex again when it returns or
// throws: also `cancelled` is thrown with the mutex held, so it may have to wait for the mutex first. First come, first
// served. A notification is for who waits at that moment, and is not lost: a task that was notified by notify_one() and is
// cancelled before it has the mutex passes it on to the next. It says that something changed, not what: wait in a loop.
// Nothing is allocated. The condition outlives its waiters (asserted).
//
//   auto held = co_await m.lock();
//   while (stock == 0) co_await arrived.wait(held);
//   --stock;
//   ...
//   ++stock;                  // elsewhere
//   arrived.notify_one();
#include <cstdint>

#include <looptask/mutex.hpp>

namespace looptask {

struct condition_statistics : wait_statistics {  // of those that wait for a notification; for the mutex wait those of the mutex
  std::uint64_t notified = 0;                    // notifications that reached a task so far
};

class condition {
 public:
  class wait_await;

  condition() noexcept = default;
  ~condition() { LOOPTASK_ASSERT(waiters_.empty(), "condition destroyed while tasks wait for it"); }
  condition(const condition&) = delete;
  condition& operator=(const condition&) = delete;

  // co_await. `held` must own a lock, and stay where it is meanwhile; it owns none while the task waits. A cancel point.
  wait_await wait(mutex::guard& held) noexcept;
  // The mutex may be locked or not. Whoever is notified goes on when the mutex is its own.
  void notify_one() noexcept;  // the first that waits, if any
  void notify_all() noexcept;  // all that wait now
  condition_statistics statistics() const noexcept { return {waiters_.statistics(), notified_}; }

 private:
  wait_queue waiters_;
  std::uint64_t notified_ = 0;
};

class condition::wait_await final : public waiter {
 public:
  wait_await(condition& of, mutex::guard& held) noexcept : of_(of), held_(held) {}
  ~wait_await();
  bool await_ready() noexcept;
  void await_resume();

 private:
  friend class condition;
  enum class step : std::uint8_t {
    waits,
    notified_alone,
    notified_with_all,
    cancelled
  };  // from the second on: wants the mutex

  void start() override;
  bool withdraw() noexcept override;
  void notify(step how) noexcept;
  bool take_mutex() noexcept;  // false: stands in its line

  condition& of_;
  mutex::guard& held_;
  mutex* mutex_ = nullptr;  // while `held_` does not own it. Is ours if we are in no line
  step step_ = step::waits;
};

inline condition::wait_await condition::wait(mutex::guard& held) noexcept {
  LOOPTASK_ASSERT(held.owns_lock(), "condition waited for without the mutex");
  return {*this, held};
}

}  // namespace looptask
