#pragma once
// Waiting for time, and giving way. Owner: the loop's thread. Each is a cancel point; nothing is allocated.
//
//   co_await looptask::sleep_for(10ms);
//   for (auto next = loop.now();; next += 1s) { co_await looptask::sleep_until(next); tick(); }   // does not drift
#include <looptask/operation.hpp>
#include <looptask/time.hpp>
#include <looptask/timer.hpp>

namespace looptask {

namespace detail {

class sleep_await final : public operation, private timer {
 public:
  explicit sleep_await(monotonic_time until) noexcept : until_(until) {}
  explicit sleep_await(duration delay) noexcept : until_(delay), relative_(true) {}
  ~sleep_await() = default;
  bool await_ready() noexcept;
  void await_resume() { finish(); }

 private:
  void start() override;
  bool withdraw() noexcept override;
  void on_timer() override { complete(); }

  monotonic_time until_;
  bool relative_ = false;
};

class yield_await final : public operation {
 public:
  yield_await() noexcept = default;
  ~yield_await() = default;
  bool await_ready() noexcept { return strikes_now(); }
  void await_resume() { finish(); }

 private:
  void start() override { complete(); }
  bool withdraw() noexcept override { return false; }
};

}  // namespace detail

// At least `delay` from this call on, whatever the task has computed in this turn. Never early; does not wait for a delay of
// zero or less.
inline detail::sleep_await sleep_for(duration delay) noexcept { return detail::sleep_await(delay); }
// Until loop::now() has reached `when`; does not wait if it has.
inline detail::sleep_await sleep_until(monotonic_time when) noexcept { return detail::sleep_await(when); }
// Lets everything else that is ready run first.
inline detail::yield_await yield() noexcept { return {}; }

}  // namespace looptask
