#pragma once
// A number of permits, handed out in order of asking. Nobody overtakes a waiter, not even when permits enough for the newcomer
// are free at that moment and too few for the one in front.
//
// Owner: the loop's thread. acquire() is a cancel point; permits that were handed over before the cancellation came are
// delivered, and given back by unwinding. Nothing is allocated. The semaphore outlives its permits and its waiters (asserted
// for those that wait).
//
//   looptask::semaphore doors(3);
//   auto door = co_await doors.acquire();   // given back at the end of the block
//   looptask::semaphore bytes(1 << 20);
//   auto room = co_await bytes.acquire(message.size());
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <looptask/wait_queue.hpp>

namespace looptask {

struct semaphore_statistics : wait_statistics {
  std::size_t total = 0;
  std::size_t available = 0;
  std::uint64_t acquired = 0;  // permits handed out so far
};

class semaphore {
 public:
  class acquire_await;

  // One or more permits; gives them back when it is destroyed or released.
  class [[nodiscard]] permit {
   public:
    permit(permit&& other) noexcept : of_(std::exchange(other.of_, nullptr)), count_(other.count_) {}
    permit& operator=(permit&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(count_, other.count_);
      return *this;
    }
    ~permit() { release(); }
    void release() noexcept {  // idempotent
      if (of_ != nullptr) std::exchange(of_, nullptr)->put_back(count_);
    }

   private:
    friend class semaphore;
    friend class acquire_await;
    permit(semaphore& of, std::size_t count) noexcept : of_(&of), count_(count) {}
    semaphore* of_;
    std::size_t count_;
  };

  explicit semaphore(std::size_t permits) noexcept : total_(permits), available_(permits) {}
  ~semaphore() { LOOPTASK_ASSERT(waiters_.empty(), "semaphore destroyed while tasks wait for it"); }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  // co_await: a permit for `count`, all at once. None, or several that the semaphore does not have in total, is misuse; one of
  // a semaphore of none waits for ever.
  acquire_await acquire(std::size_t count = 1) noexcept;
  std::optional<permit> try_acquire(std::size_t count = 1) noexcept;
  semaphore_statistics statistics() const noexcept { return {waiters_.statistics(), total_, available_, acquired_}; }

 private:
  bool may_take(std::size_t count) const noexcept { return available_ >= count && waiters_.empty(); }
  void take(std::size_t count) noexcept {
    available_ -= count;
    acquired_ += count;
  }
  void put_back(std::size_t count) noexcept {
    available_ += count;
    if (!waiters_.empty()) hand_out();
  }
  void hand_out() noexcept;

  const std::size_t total_;
  std::size_t available_;
  std::uint64_t acquired_ = 0;
  wait_queue waiters_;
};

class semaphore::acquire_await final : public waits_in<semaphore, &semaphore::waiters_> {
 public:
  acquire_await(semaphore& of, std::size_t count) noexcept : waits_in(of), count_(count) {}
  ~acquire_await() {  // with its loop, perhaps in the line, perhaps after the permits were handed over
    if (in_line()) withdraw();
    if (has_completed()) of_.put_back(count_);
  }
  bool await_ready() noexcept {
    if (strikes_now()) return true;
    if (!of_.may_take(count_) || !spend()) return false;
    of_.take(count_);
    return true;
  }
  permit await_resume() {
    finish();
    return permit(of_, count_);
  }

 private:
  friend class semaphore;
  void start() override;
  bool withdraw() noexcept override;
  const std::size_t count_;
};

inline semaphore::acquire_await semaphore::acquire(std::size_t count) noexcept {
  LOOPTASK_ASSERT(count == 1 || (count > 0 && count <= total_),
                  "semaphore asked for no permit, or for more than it has in total");
  return acquire_await(*this, count);
}

}  // namespace looptask
