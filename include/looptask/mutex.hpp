#pragma once
// Mutual exclusion among tasks of one loop, for what must not be interleaved across awaits. First come, first served: an
// unlocked mutex goes to the first that waits, and nobody overtakes.
//
// Owner: the loop's thread; it is no lock between threads. lock() is a cancel point; a lock that was handed over before the
// cancellation came is delivered, and given back by unwinding. Not recursive: a task that locks it twice waits for ever.
// Nothing is allocated. The mutex outlives its guards and its waiters (asserted for those that wait).
//
//   looptask::mutex one_at_a_time;
//   {
//     auto held = co_await one_at_a_time.lock();
//     co_await write(header);
//     co_await write(body);
//   }                                               // unlocked here
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <looptask/wait_queue.hpp>

namespace looptask {

struct mutex_statistics : wait_statistics {
  bool locked = false;
  std::uint64_t acquired = 0;  // how often it was locked so far
};

class mutex {
 public:
  class lock_await;

  // Holds the lock until it is destroyed or unlocked.
  class [[nodiscard]] guard {
   public:
    guard(guard&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    guard& operator=(guard&& other) noexcept {
      std::swap(of_, other.of_);
      return *this;
    }
    ~guard() { unlock(); }
    void unlock() noexcept {  // idempotent
      if (of_ != nullptr) std::exchange(of_, nullptr)->put_back();
    }
    bool owns_lock() const noexcept { return of_ != nullptr; }

   private:
    friend class mutex;
    friend class condition;
    explicit guard(mutex& of) noexcept : of_(&of) {}
    mutex* of_;
  };

  mutex() noexcept = default;
  ~mutex() { LOOPTASK_ASSERT(waiters_.empty(), "mutex destroyed while tasks wait for it"); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  lock_await lock() noexcept;                // co_await: a guard
  std::optional<guard> try_lock() noexcept;  // nullopt if it is locked
  mutex_statistics statistics() const noexcept { return {waiters_.statistics(), locked_, acquired_}; }

 private:
  friend class condition;

  bool take() noexcept {
    if (locked_) return false;  // as it is while anybody waits
    ++acquired_;
    return locked_ = true;
  }
  void put_back() noexcept {
    waiter* const next = waiters_.front();
    if (next == nullptr) {
      locked_ = false;
      return;
    }
    ++acquired_;
    waiters_.wake(*next);
  }

  bool locked_ = false;
  std::uint64_t acquired_ = 0;
  wait_queue waiters_;  // of lock_await, and of condition's waiters that are on their way back
};

class mutex::lock_await final : public waits_in<mutex, &mutex::waiters_> {
 public:
  explicit lock_await(mutex& of) noexcept : waits_in(of) {}
  ~lock_await() {  // with its loop, perhaps after the lock was handed over
    if (has_completed()) of_.put_back();
  }
  bool await_ready() noexcept {
    if (strikes_now()) return true;
    return !of_.locked_ && spend() && of_.take();
  }
  guard await_resume() {
    finish();
    return guard(of_);
  }

 private:
  void start() override;
};

inline mutex::lock_await mutex::lock() noexcept { return lock_await(*this); }

}  // namespace looptask
