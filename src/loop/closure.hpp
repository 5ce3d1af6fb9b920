#pragma once
// The runnable behind loop::call_soon(unique_function): owns the function and itself. Owner: the loop's thread.
#include <utility>

#include <looptask/function.hpp>
#include <looptask/loop.hpp>
#include <looptask/memory_pool.hpp>

namespace looptask::detail {

class closure final : public runnable {
 public:
  explicit closure(unique_function<void()> work) noexcept : work_(std::move(work)) {}
  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }

  void run() override {
    unique_function<void()> work = std::move(work_);
    delete this;
    work();
  }
  void discard() noexcept override { delete this; }

 private:
  unique_function<void()> work_;
};

}  // namespace looptask::detail
