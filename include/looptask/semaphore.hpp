#pragma once
// A number of permits, handed out in order of asking. Nobody overtakes a waiter, not even when a permit is free at that moment.
//
// Owner: the loop's thread. acquire() is a cancel point; a permit that was handed over before the cancellation came is
// delivered, and given back by unwinding. Nothing is allocated. The semaphore outlives its permits and its waiters.
//
//   looptask::semaphore doors(3);
//   auto door = co_await doors.acquire();   // given back at the end of the block
#include <cstddef>
#include <optional>
#include <utility>

#include <looptask/list.hpp>
#include <looptask/operation.hpp>

namespace looptask {

struct semaphore_statistics {
  std::size_t available = 0;
  std::size_t waiting = 0;
};

class semaphore {
 public:
  class acquire_await;

  class [[nodiscard]] permit {
   public:
    permit(permit&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    permit& operator=(permit&& other) noexcept {
      std::swap(of_, other.of_);
      return *this;
    }
    ~permit() { release(); }
    void release() noexcept {  // idempotent
      if (of_ != nullptr) std::exchange(of_, nullptr)->put_back();
    }

   private:
    friend class semaphore;
    friend class acquire_await;
    explicit permit(semaphore& of) noexcept : of_(&of) {}
    semaphore* of_;
  };

  explicit semaphore(std::size_t permits) noexcept : available_(permits) {}
  ~semaphore() { LOOPTASK_ASSERT(waiters_.empty(), "semaphore destroyed while tasks wait for it"); }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  acquire_await acquire() noexcept;  // co_await: a permit
  std::optional<permit> try_acquire() noexcept;
  semaphore_statistics statistics() const noexcept { return {available_, waiting_}; }

 private:
  bool take() noexcept {
    if (available_ == 0 || waiting_ != 0) return false;
    --available_;
    return true;
  }
  void put_back() noexcept;

  std::size_t available_;
  std::size_t waiting_ = 0;
  list<acquire_await> waiters_;
};

class semaphore::acquire_await final : public operation, private list_node<> {
 public:
  explicit acquire_await(semaphore& of) noexcept : of_(of) {}
  ~acquire_await() {  // with its loop, perhaps in the queue, perhaps after the permit was handed over
    leave_queue();
    if (holds_) of_.put_back();
  }
  bool await_ready() noexcept {
    if (strikes_now()) return true;
    if (of_.available_ == 0 || !spend()) return false;
    return holds_ = of_.take();
  }
  permit await_resume() {
    finish();
    holds_ = false;
    return permit(of_);
  }

 private:
  friend class semaphore;
  friend class list<acquire_await>;
  void start() override;
  bool withdraw() noexcept override {
    leave_queue();
    return true;
  }
  void leave_queue() noexcept {
    if (!linked()) return;
    unlink();
    --of_.waiting_;
  }
  semaphore& of_;
  bool holds_ = false;
};

inline semaphore::acquire_await semaphore::acquire() noexcept { return acquire_await(*this); }

}  // namespace looptask
