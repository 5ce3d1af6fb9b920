#pragma once
// Runs a few threads of a small program in every order in which their atomic operations can follow each other (sequentially
// consistent: what weaker orders allow is the thread sanitizer's part). Each thread is a fiber that yields before each
// operation; an execution is a list of choices, and the next one differs in the last choice that has an alternative left.
// States that were seen before are not entered again: what a thread will do depends on what it has read so far, and on the
// atomic words.
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "mailbox/fiber.hpp"

namespace looptask {

class explorer {
 public:
  static constexpr std::size_t most_threads = 4;

  // One small program, made anew for each execution.
  struct program {
    std::vector<std::function<void()>> threads;
    std::function<std::string()> fault;  // looked at when all have ended; empty: none
  };
  struct findings {
    std::string fault;  // of the first execution that had one
    std::size_t executions = 0;
    std::size_t states = 0;
  };

  findings explore(const std::function<program()>& make) {
    findings all;
    seen_.clear();
    choices_.clear();
    do {
      ++all.executions;
      now = this;
      memory_ = 0;
      all.fault = execute(make());
    } while (all.fault.empty() && next_choices());
    all.states = seen_.size();
    return all;
  }

  static explorer& current() { return *now; }
  // For the operations of a thread: before each, and with what it read.
  static void step() { fiber_of_test::yield(); }
  void read(std::uint64_t value) { history_[running_] = mixed(history_[running_], value); }
  void wrote(const void* where, std::uint64_t value) { memory_ ^= mixed(reinterpret_cast<std::uintptr_t>(where), value); }
  // All that the running thread will do from here on depends on `digest` and the words, not on what it has read before: so that
  // states which differ in nothing else are one.
  void knows_only(std::uint64_t digest) { history_[running_] = mixed(running_ + 1, digest); }
  // Goes on only when `ready` holds.
  void wait_for(const std::function<bool()>& ready) {
    blocked_[running_] = &ready;
    step();
    blocked_[running_] = nullptr;
  }
  // Goes on only after another thread has done something.
  void wait_for_others() {
    const std::size_t before = steps_;
    wait_for([this, before] { return steps_ > before; });
  }
  void fail(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
  }

 private:
  struct choice {
    std::size_t taken;
    std::size_t of;
  };
  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    a = (a ^ b) * 0x9E3779B97F4A7C15U;
    return a ^ (a >> 29U);
  }

  std::string execute(program of) {
    fault_.clear();
    steps_ = 0;
    const std::size_t count = of.threads.size();
    for (std::size_t i = 0; i < count; ++i) {
      history_[i] = i;
      blocked_[i] = nullptr;
      fibers_[i].begin(std::move(of.threads[i]));
    }
    for (std::size_t depth = 0; fault_.empty(); ++depth) {
      std::vector<std::size_t> ready;
      bool all_done = true;
      for (std::size_t i = 0; i < count; ++i) {
        if (fibers_[i].done()) continue;
        all_done = false;
        if (blocked_[i] == nullptr || (*blocked_[i])()) ready.push_back(i);
      }
      if (all_done) return of.fault();
      if (ready.empty()) return "all that have not ended wait for each other";
      if (depth == choices_.size()) {
        if (!seen_.insert(state(count)).second) return {};
        choices_.push_back({0, ready.size()});
      }
      running_ = ready[choices_[depth].taken];
      ++steps_;
      history_[running_] = mixed(history_[running_], 1);
      fibers_[running_].resume();
    }
    return fault_;
  }
  std::uint64_t state(std::size_t count) const {
    std::uint64_t all = memory_;
    for (std::size_t i = 0; i < count; ++i) all = mixed(all, history_[i]);
    return all;
  }
  bool next_choices() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().of) choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }

  inline static explorer* now = nullptr;
  fiber_of_test fibers_[most_threads];
  const std::function<bool()>* blocked_[most_threads]{};
  std::uint64_t history_[most_threads]{};
  std::uint64_t memory_ = 0;  // of all words: the same however they came to be so
  std::size_t running_ = 0;
  std::size_t steps_ = 0;
  std::string fault_;
  std::vector<choice> choices_;
  std::unordered_set<std::uint64_t> seen_;
};

// An atomic word whose every access is a step.
template <class T>
class explored {
 public:
  explored() : explored(T{}) {}
  explicit explored(T value) : value_(value) { explorer::current().wrote(this, number(value_)); }

  T load(std::memory_order) const { return explorer::step(), seen(value_); }
  void store(T value, std::memory_order) { explorer::step(), put(value); }
  T exchange(T value, std::memory_order) { return explorer::step(), replace(value); }
  T fetch_add(T more, std::memory_order) { return explorer::step(), replace(static_cast<T>(value_ + more)); }
  T fetch_sub(T less, std::memory_order) { return explorer::step(), replace(static_cast<T>(value_ - less)); }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order, std::memory_order) {
    explorer::step();
    if (value_ == expected) return replace(wanted), true;
    expected = seen(value_);
    return false;
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order success, std::memory_order failure) {
    return compare_exchange_strong(expected, wanted, success, failure);
  }
  T peek() const { return value_; }  // no step

 private:
  static std::uint64_t number(T value) { return static_cast<std::uint64_t>(value) + 1; }
  static T seen(T value) { return explorer::current().read(number(value)), value; }
  void put(T value) {
    explorer::current().wrote(this, number(value_));  // taken out of the sum
    value_ = value;
    explorer::current().wrote(this, number(value_));
  }
  T replace(T value) {
    const T before = seen(value_);
    put(value);
    return before;
  }
  T value_;
};

struct explored_atomics {
  template <class T>
  using atomic = explored<T>;
  static void pause() { explorer::current().wait_for_others(); }
};

}  // namespace looptask
