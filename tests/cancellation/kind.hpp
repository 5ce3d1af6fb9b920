#pragma once
// A kind of wait, as tests/cancellation sees it: how to wait, how it comes to its end, and what must be true afterwards. Each
// public awaitable is registered by one (registered_test.cpp).
//
//   struct sleeps final : trial { ... task<> wait() override { co_await sleep_for(1s); } ... };
//   kinds().push_back({.name = "sleep_for", .covers = {"sleep.hpp sleep_for"}, .make = ...});
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <looptask/looptask.hpp>

#include "sim/world.hpp"

namespace looptask::tests {

using hook = std::function<void()>;
inline void call(const hook& what) {
  if (what) what();
}

// Made with a loop, and destroyed after it. What is waited for may be waited for again.
class trial {
 public:
  trial(looptask::loop& l, sim::world& w) : loop(l), world(w) {}
  virtual ~trial() = default;
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;

  virtual task<> wait() = 0;
  // Before a wait begins: it is to come to its end by itself at a later instant, with `before` called right before, in the same
  // turn, and `after` right after, before the task goes on.
  virtual void plan(hook before, hook after) {
    loop.call_later(std::chrono::seconds(1), [this, before = std::move(before), after = std::move(after)] {
      call(before);
      complete();
      call(after);
    });
  }
  // When nobody waits any more: nothing was lost, and nothing is held.
  virtual bool whole() { return true; }
  bool loop_is_gone = false;

 protected:
  virtual void complete() {}
  // For what ends by a timer that is armed when the wait begins, at `at`: timers of one instant fire in order of arming.
  void around(monotonic_time at, hook before, hook after) {
    loop.call_at(at, [before = std::move(before)] { call(before); });
    loop.call_later(std::chrono::milliseconds(500),
                    [this, at, after = std::move(after)] { loop.call_at(at, [after] { call(after); }); });
  }

  looptask::loop& loop;
  sim::world& world;
};

struct kind {
  std::string name;
  std::vector<std::string> covers;  // "HEADER NAME" of functions and classes
  std::function<std::unique_ptr<trial>(looptask::loop&, sim::world&)> make;
  bool taken_back = true;  // by a cancellation while it waits; else it is waited for
  bool waits = true;       // else it has ended as soon as it has begun
  bool real = false;       // on a real host instead of the simulated world
  bool timed = true;       // plan() knows the instant; else it is made of several waits
};

inline void PrintTo(const kind& one, std::ostream* out) { *out << one.name; }

std::vector<kind> kinds();
void add_loop_kinds(std::vector<kind>& to);
void add_network_kinds(std::vector<kind>& to);

template <class Trial>
auto making() {
  return [](looptask::loop& l, sim::world& w) -> std::unique_ptr<trial> { return std::make_unique<Trial>(l, w); };
}

}  // namespace looptask::tests
