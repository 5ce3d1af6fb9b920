#pragma once
// What the three programs of this folder do inside of the other library's loop: a task that sleeps, a timer, and a post from
// another thread, each of which leaves a line.
#include <looptask/looptask.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

namespace nested {

class work {
 public:
  explicit work(looptask::loop& where) : loop_(where) {
    looptask::spawn(loop_, sleeper(*this));
    loop_.call_later(std::chrono::milliseconds(20), [this] { leave("timer"); });
    thread_ = std::thread([this, home = loop_.handle()] { home.post([this] { leave("post"); }); });
  }
  work(const work&) = delete;
  work& operator=(const work&) = delete;
  ~work() { thread_.join(); }

  bool done() const { return lines_ == 3; }

 private:
  static looptask::task<> sleeper(work& of) {
    co_await looptask::sleep_for(std::chrono::milliseconds(10));
    of.leave("task");
  }
  void leave(const char* what) {
    ++lines_;
    std::printf("%s\n", what);
    std::fflush(stdout);
  }

  looptask::loop& loop_;
  std::thread thread_;
  int lines_ = 0;
};

}  // namespace nested
