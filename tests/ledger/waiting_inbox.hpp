#pragma once
// An inbox whose owner is the test's thread: what was posted runs when the test waits for something.
#include <condition_variable>
#include <deque>
#include <mutex>

#include <looptask/host.hpp>

namespace looptask::ledger {

class waiting_inbox final : public inbox {
 public:
  void post(unique_function<void()> work) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(work));
    }
    changed_.notify_one();
  }

  // Runs posted work, in order, until `reached` holds.
  template <class Condition>
  void run_until(Condition reached) {
    while (!reached()) take()();
  }

  bool run_one() {
    if (empty()) return false;
    take()();
    return true;
  }

  bool empty() {
    const std::lock_guard lock(mutex_);
    return posted_.empty();
  }

 private:
  unique_function<void()> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !posted_.empty(); });
    unique_function<void()> work = std::move(posted_.front());
    posted_.pop_front();
    return work;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<unique_function<void()>> posted_;
};

}  // namespace looptask::ledger
