#pragma once
// What the calls of these tests wait at: a door that is opened once, and tells how many have come to it. Any thread.
#include <condition_variable>
#include <memory>
#include <mutex>

namespace looptask {

class gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++came_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_until_came(int many) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, many] { return came_ >= many; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int came_ = 0;
};

}  // namespace looptask
