#pragma once
// The only door between threads and a loop: posted work and the request to stop. Shared by the loop and its handles, so that
// it outlives the loop; closed when the loop goes.
//
// Any thread may post and stop; take(), fall_asleep(), wake_up(), close() are the loop's. Invariant: the reactor is woken
// exactly if the loop has declared itself asleep since the last waking, so a busy loop costs no system call; and it is never
// touched after close() has returned.
#include <atomic>
#include <mutex>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/host.hpp>

namespace looptask {

class mailbox {
 public:
  explicit mailbox(reactor_port& reactor) noexcept : reactor_(reactor) {}

  bool post(unique_function<void()> work);  // false: closed, the work has been destroyed
  bool stop() noexcept;                     // false: closed

  bool filled() const noexcept { return filled_.load(std::memory_order_relaxed); }
  bool stop_asked() const noexcept { return stop_.load(std::memory_order_relaxed); }
  bool consume_stop() noexcept { return stop_.exchange(false, std::memory_order_relaxed); }
  // Exchanges the waiting work for `empty`, which keeps the memory of both in use.
  void take(std::vector<unique_function<void()>>& empty);
  bool fall_asleep() noexcept;  // false: there is mail, do not wait
  void wake_up() noexcept;
  void close() noexcept;  // destroys the waiting work

 private:
  void wake_if_asleep(std::unique_lock<std::mutex>& lock) noexcept;

  std::mutex mutex_;
  std::vector<unique_function<void()>> waiting_;
  bool asleep_ = false;
  bool closed_ = false;
  std::atomic<bool> filled_ = false;  // hints, for a look without the lock; set under it
  std::atomic<bool> stop_ = false;
  std::atomic<int> waking_ = 0;  // threads between their decision to wake the reactor and having done so
  reactor_port& reactor_;
};

}  // namespace looptask
