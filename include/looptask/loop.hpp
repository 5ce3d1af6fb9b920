#pragma once
// The event loop: ready -> poll -> timers, on one thread.
//
// A loop is built, run and destroyed on one thread (its owner); every function not marked "any thread" asserts that.
// A turn runs only what was ready when it began, in FIFO order. Timers are exact, never early; equal deadlines fire in order
// of arming. An exception that leaves a callback goes to the error handler; the default prints it and aborts the process.
//
//   looptask::real_host host;
//   looptask::loop loop(host);
//   loop.call_later(1s, [] { ... });
//   loop.run();
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>

#include <looptask/function.hpp>
#include <looptask/host.hpp>
#include <looptask/time.hpp>

namespace looptask {

template <class T>
class task;

// A timer of call_at/call_later. Dropping the handle leaves the timer armed. cancel() is idempotent, frees the callback at
// once, and does nothing after the timer has fired or the loop is gone.
class timer_handle;

// A weak reference to a loop. Copyable, any thread. post() returns false, and destroys the work, once the loop is closed.
class loop_handle;

class loop final : public inbox {
 public:
  explicit loop(host& where);
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  host& where() noexcept;
  monotonic_time now() const noexcept;  // read once per turn

  void call_soon(unique_function<void()> work);
  timer_handle call_at(monotonic_time when, unique_function<void()> work);
  timer_handle call_later(duration delay, unique_function<void()> work);
  // Runs once when everything due at this instant has been handled: the ready queue is empty and a poll found nothing. Under
  // a load that never pauses: after 64 turns at the latest.
  void call_idle(unique_function<void()> work);

  void post(unique_function<void()> work) override;  // any thread; wakes the loop
  loop_handle handle() noexcept;

  void run();       // until stop(), or until nothing is ready, armed, watched or held
  void run_once();  // one turn; waits for work if there is none
  template <class T>
  T run(task<T> main);   // until the task is done; returns its result or throws its exception
  void stop() noexcept;  // any thread; run() returns after the current turn

  void on_error(unique_function<void(std::exception_ptr)> handler);
};

}  // namespace looptask
