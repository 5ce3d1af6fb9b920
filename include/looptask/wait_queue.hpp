#pragma once
// What mutex, semaphore, event, latch, condition, channel and rate_limiter have in common: a line of tasks that wait.
//
// Owner: the loop's thread. First come, first served: whoever gives something away (a permit, a value, a signal) hands it to
// the first in the line before anybody else can ask, so nobody barges in. A waiter leaves the line when it is handed what it
// waits for, when it is cancelled, and when its task is destroyed with the loop. Nothing is allocated: the links lie in the
// operation, in the frame of the task that waits. Invariant: an operation that has completed is in no line, and does not touch
// its owner any more unless it has something to give back.
//
//   class door {                                                             // co_await door.opened()
//     struct passage final : looptask::waits_in<door, &door::line_> {
//       explicit passage(door& of) : waits_in(of) {}
//       bool await_ready() { return strikes_now() || (of_.open_ && spend()); }
//       void await_resume() { finish(); }
//       void start() override { of_.open_ ? complete() : enter(); }
//     };
//     void open() { open_ = true; while (auto* first = line_.front()) line_.wake(*first); }
//     ...
#include <cstddef>
#include <cstdint>

#include <looptask/list.hpp>
#include <looptask/operation.hpp>

namespace looptask {

struct wait_statistics {
  std::size_t waiting = 0;       // tasks that wait now
  std::size_t most_waiting = 0;  // at any one time so far
  std::uint64_t waited = 0;      // how often a task had to wait so far
};

// An operation that may stand in a line.
class waiter : public operation, private list_node<> {
 protected:
  waiter() noexcept = default;
  ~waiter() = default;  // in no line any more
  bool in_line() const noexcept { return linked(); }

 private:
  friend class wait_queue;
  friend class list<waiter>;
};

class wait_queue {
 public:
  wait_queue() noexcept = default;
  wait_queue(const wait_queue&) = delete;
  wait_queue& operator=(const wait_queue&) = delete;
  ~wait_queue() = default;  // the owner asserts that it is empty, in words of its own

  bool empty() const noexcept { return counts_.waiting == 0; }
  waiter* front() noexcept { return line_.front(); }
  void enter(waiter& last) noexcept {
    line_.push_back(last);
    ++counts_.waited;
    if (++counts_.waiting > counts_.most_waiting) counts_.most_waiting = counts_.waiting;
  }
  void leave(waiter& who) noexcept {  // which may be in no line, but in no other one than this
    if (!who.linked()) return;
    who.unlink();
    --counts_.waiting;
  }
  void wake(waiter& who) noexcept {  // it has what it waits for: leaves the line, and its task goes on in the next turn
    leave(who);
    who.complete();
  }
  const wait_statistics& statistics() const noexcept { return counts_; }

 private:
  list<waiter> line_;
  wait_statistics counts_;
};

// One that waits in the line `Queue` of its owner. Cancellation and destruction take it out of the line; a derived class with
// more to do overrides withdraw() and does the same in its destructor.
template <class Owner, wait_queue Owner::*Queue>
class waits_in : public waiter {
 protected:
  explicit waits_in(Owner& of) noexcept : of_(of) {}
  ~waits_in() { leave(); }
  void enter() noexcept { (of_.*Queue).enter(*this); }
  void leave() noexcept { (of_.*Queue).leave(*this); }
  bool withdraw() noexcept override {
    leave();
    return true;
  }

  Owner& of_;
};

}  // namespace looptask
