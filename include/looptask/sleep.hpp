#pragma once
// Waiting for time, and giving way. Owner: the loop's thread. Each is a cancel point; nothing is allocated.
//
//   co_await looptask::sleep_for(10ms);
//   for (auto next = loop.now();; next += 1s) { co_await looptask::sleep_until(next); tick(); }   // does not drift
#include <concepts>
#include <coroutine>

#include <looptask/operation.hpp>
#include <looptask/time.hpp>
#include <looptask/timer.hpp>

namespace looptask {

namespace detail {

// 64 bytes: the deadline lies in the timer, and the flag in what is left over of the operation.
class sleep_await final : private timer, public operation {
 public:
  explicit sleep_await(monotonic_time until) noexcept { preset(until); }
  explicit sleep_await(duration delay) noexcept : relative_(true) { preset(monotonic_time(delay)); }
  ~sleep_await() = default;
  bool await_ready() noexcept;
  void await_resume() { finish(); }

 private:
  void start() override;
  bool withdraw() noexcept override;
  void on_timer() override { complete(); }

  bool relative_ = false;  // the deadline is a delay still
};

class yield_await final : public operation {
 public:
  yield_await() noexcept = default;
  ~yield_await() = default;
  bool await_ready() noexcept { return strikes_now(); }
  template <std::derived_from<promise_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) noexcept {
    give_way(frame);
  }
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
