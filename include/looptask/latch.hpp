#pragma once
// Waits until a number of things have happened, once.
//
// Owner: the loop's thread. wait() is a cancel point and does not wait once the count is zero, which it then stays. To wait
// for tasks to end, a task_group is the better tool: it passes on failures. Nothing is allocated. The latch outlives its
// waiters (asserted).
//
//   looptask::latch ready(workers);
//   ready.count_down();              // by each worker
//   co_await ready.wait();           // until all have
#include <cstddef>

#include <looptask/event.hpp>

namespace looptask {

struct latch_statistics : wait_statistics {
  std::size_t remaining = 0;
};

class latch {
 public:
  explicit latch(std::size_t count) noexcept : remaining_(count) {
    if (count == 0) reached_.set();
  }
  ~latch() { LOOPTASK_ASSERT(reached_.statistics().waiting == 0, "latch destroyed while tasks wait for it"); }
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  void count_down(std::size_t by = 1) noexcept;  // by more than remains: misuse
  bool is_reached() const noexcept { return remaining_ == 0; }
  event::wait_await wait() noexcept { return reached_.wait(); }  // co_await
  latch_statistics statistics() const noexcept;

 private:
  std::size_t remaining_;
  event reached_;
};

}  // namespace looptask
