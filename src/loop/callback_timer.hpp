#pragma once
// The timer behind loop::call_at: owns its callback and, while armed, itself. Owner: the loop's thread.
#include <utility>

#include <looptask/function.hpp>
#include <looptask/memory_pool.hpp>
#include <looptask/timer.hpp>

namespace looptask::detail {

class callback_timer final : public timer {
 public:
  callback_timer(loop& where, unique_function<void()> work) noexcept : timer(where), work_(std::move(work)) {}
  ~callback_timer() {
    if (handle_ != nullptr) handle_->timer_ = nullptr;
  }
  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }

 private:
  friend class looptask::timer_handle;
  void on_timer() override {
    unique_function<void()> work = std::move(work_);
    delete this;
    work();
  }
  void on_loop_gone() noexcept override { delete this; }

  unique_function<void()> work_;
  timer_handle* handle_ = nullptr;
};

}  // namespace looptask::detail
