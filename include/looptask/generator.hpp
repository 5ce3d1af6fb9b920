#pragma once
// generator<T>: a coroutine that yields values one by one, and may await in between.
//
// Owner: the loop's thread. The body runs inside next(), in the task that awaits it, up to its next co_yield: nothing runs
// ahead. next() is a cancel point before it runs the body; what the body awaits is one as everywhere, and what leaves the body,
// an error or `cancelled`, comes out of next(). After that, as after its end, next() gives nullopt. A value is moved out of the
// generator when it is taken; if that throws, next() throws it, and the generator goes on after it.
// Leaving early: destroying the generator destroys the frame of its body, where it stands, so destructors run. If clean-up must
// await, co_await close(): co_yield then throws `cancelled` inside the body, which may clean up, as after a cancellation, and
// must let it pass. One next() or close() at a time. Frames come from the thread's memory_pool.
//
//   looptask::generator<int> beats(int n) {
//     for (int i = 0; i < n; ++i) { co_await looptask::sleep_for(1s); co_yield i; }
//   }
//   auto g = beats(3);
//   while (true) { auto beat = co_await g.next(); if (!beat) break; use(*beat); }
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <looptask/memory_pool.hpp>
#include <looptask/operation.hpp>
#include <looptask/task.hpp>

namespace looptask {

template <class T>
class generator;

namespace detail {

class generator_step;

struct generator_promise_base : promise_base {
  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_await final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { error = std::current_exception(); }

  bool begun = false;
  bool closing = false;
  std::exception_ptr error;
};

class yield_to_consumer {
 public:
  explicit yield_to_consumer(generator_promise_base& of) noexcept : of_(of) {}
  bool await_ready() const noexcept { return of_.closing; }
  void await_suspend(std::coroutine_handle<>) const noexcept { fiber::current()->hand_over(of_.awaited_by->parent_frame); }
  void await_resume() const {
    if (of_.closing) throw cancelled();
  }

 private:
  generator_promise_base& of_;
};

template <class T>
struct generator_promise final : generator_promise_base {
  std::optional<T> value;

  generator<T> get_return_object() noexcept;
  template <std::convertible_to<T> U = T>
  yield_to_consumer yield_value(U&& given) {
    if (!closing) value.emplace(std::forward<U>(given));
    return yield_to_consumer(*this);
  }
};

// The frame of a body. While a step runs the body, the frame is the step's.
class generator_frame {
 public:
  generator_frame() noexcept = default;
  generator_frame(frame_handle frame, generator_promise_base& in) noexcept : frame_(frame), promise_(&in) {}
  generator_frame(generator_frame&& other) noexcept { take(other); }
  generator_frame& operator=(generator_frame&& other) noexcept {
    if (this != &other) {
      destroy();
      take(other);
    }
    return *this;
  }
  ~generator_frame() { destroy(); }

 private:
  friend class generator_step;
  void take(generator_frame& other) noexcept;
  void destroy() noexcept;

  frame_handle frame_;
  generator_promise_base* promise_ = nullptr;  // nullptr: the body has ended
  generator_step* step_ = nullptr;
};

// Awaited: runs the body up to its next co_yield or its end, in the fiber that awaits.
class generator_step : protected await_link {
 public:
  generator_step(const generator_step&) = delete;
  generator_step& operator=(const generator_step&) = delete;

  template <std::derived_from<promise_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) noexcept {
    parent_frame = as_frame(frame);
    enter();
  }

 protected:
  explicit generator_step(generator_frame& of) noexcept : of_(&of) {}
  ~generator_step();
  bool ready_for_next() noexcept;
  bool ready_to_close() noexcept;
  generator_promise_base* leave();  // throws what the body has thrown; nullptr: it has ended

 private:
  friend class generator_frame;
  void enter() noexcept;

  generator_frame* of_;  // nullptr: destroyed while the body ran
  generator_promise_base* runs_ = nullptr;
  bool struck_ = false;
};

template <class T>
class next_await final : public generator_step {
 public:
  explicit next_await(generator_frame& of) noexcept : generator_step(of) {}
  bool await_ready() noexcept { return ready_for_next(); }
  std::optional<T> await_resume() {
    generator_promise_base* const at = leave();
    if (at == nullptr) return std::nullopt;
    struct emptied {
      explicit emptied(std::optional<T>& which) noexcept : value(which) {}
      emptied(const emptied&) = delete;
      emptied& operator=(const emptied&) = delete;
      ~emptied() { value.reset(); }
      std::optional<T>& value;
    } const taken(static_cast<generator_promise<T>*>(at)->value);
    return std::optional<T>(std::move(*taken.value));
  }
};

class close_await final : public generator_step {
 public:
  explicit close_await(generator_frame& of) noexcept : generator_step(of) {}
  bool await_ready() noexcept { return ready_to_close(); }
  void await_resume();
};

}  // namespace detail

template <class T>
class [[nodiscard]] generator {
  static_assert(std::is_object_v<T>, "a generator yields values");

 public:
  using promise_type = detail::generator_promise<T>;

  generator() noexcept = default;  // as one that has ended
  generator(generator&& other) noexcept = default;
  generator& operator=(generator&& other) noexcept = default;

  detail::next_await<T> next() noexcept { return detail::next_await<T>(frame_); }  // co_await: optional<T>
  // Awaited: ends the body, and returns when its clean-up is done; throws what that throws. No cancel point itself, so that a
  // body is closed also after a cancellation; what the clean-up awaits is one, unless it is in a shield.
  detail::close_await close() noexcept { return detail::close_await(frame_); }

 private:
  friend promise_type;
  explicit generator(detail::generator_frame frame) noexcept : frame_(std::move(frame)) {}
  detail::generator_frame frame_;
};

namespace detail {

template <class T>
generator<T> generator_promise<T>::get_return_object() noexcept {
  return generator<T>(generator_frame(as_frame(std::coroutine_handle<generator_promise>::from_promise(*this)), *this));
}

}  // namespace detail
}  // namespace looptask
