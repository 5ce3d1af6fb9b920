#pragma once
// task<T>: a coroutine that begins when it is awaited, or handed to a loop by spawn(), loop::run() or a task_group.
//
// Owner: the loop's thread, from its start on. It never migrates. co_await yields its result or throws its exception; awaiting
// a task is no cancel point by itself. Destroying a task that has not begun frees it. Parameters go by value into the frame; a
// capturing lambda that is a coroutine must outlive its task: pass the lambda itself to spawn() or task_group::start(), which
// keep it. Frames come from the thread's memory_pool.
//
//   looptask::task<int> answer() { co_await looptask::sleep_for(10ms); co_return 42; }
//   int n = loop.run(answer());
//   looptask::spawn(loop, answer(), [](looptask::outcome<int> o) { use(std::move(o).get()); });
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <looptask/debug.hpp>
#include <looptask/loop.hpp>
#include <looptask/memory_pool.hpp>
#include <looptask/operation.hpp>
#include <looptask/source_place.hpp>

namespace looptask {

template <class T = void>
class task;

// How a task ended: a value, or an exception (which may be `cancelled`).
template <class T = void>
class outcome {
  using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

 public:
  outcome() noexcept = default;

  bool ok() const noexcept { return value_.has_value(); }
  std::exception_ptr error() const noexcept { return error_; }
  // The value, or throws the exception. Once.
  T get() && {
    if (error_ != nullptr) std::rethrow_exception(std::move(error_));
    LOOPTASK_ASSERT(ok(), "outcome of a task that is not done");
    if constexpr (std::is_reference_v<T>)
      return **value_;
    else
      return std::move(*value_);
  }

  template <class... Args>
  void set_value(Args&&... args) {
    value_.emplace(std::forward<Args>(args)...);
    error_ = nullptr;
  }
  void set_error(std::exception_ptr error) noexcept {
    error_ = std::move(error);
    value_.reset();
  }

 private:
  std::optional<stored> value_;
  std::exception_ptr error_;
};

template <>
class outcome<void> {
 public:
  outcome() noexcept = default;

  bool ok() const noexcept { return done_ && error_ == nullptr; }
  std::exception_ptr error() const noexcept { return error_; }
  void get() && {
    if (error_ != nullptr) std::rethrow_exception(std::move(error_));
    LOOPTASK_ASSERT(done_, "outcome of a task that is not done");
  }
  void set_value() noexcept {
    error_ = nullptr;
    done_ = true;
  }
  void set_error(std::exception_ptr error) noexcept { error_ = std::move(error); }

 private:
  std::exception_ptr error_;
  bool done_ = false;
};

namespace detail {

struct final_await {
  final_await() noexcept = default;
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) const noexcept {
    if (const await_link* const link = frame.promise().awaited_by) {
      fiber::current()->hand_over(link->parent_frame);
    } else {
      fiber::current()->outermost_done(as_frame(frame));
    }
  }
  void await_resume() const noexcept {}
};

struct task_promise : promise_base {
  explicit task_promise(const source_place& body) noexcept {
    if (debugging()) note_made(this, body);
  }
  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_await final_suspend() const noexcept { return {}; }
};

template <class T>
struct promise final : task_promise {
  explicit promise(source_place body = source_place::current()) noexcept : task_promise(body) {}
  task<T> get_return_object() noexcept;
  template <class U = T>
  requires std::constructible_from<T, U>
  void return_value(U&& value) {
    if constexpr (std::is_reference_v<T>)
      result.set_value(std::addressof(value));
    else
      result.set_value(std::forward<U>(value));
  }
  void unhandled_exception() noexcept { result.set_error(std::current_exception()); }

  T get() { return std::move(result).get(); }
  outcome<T> take() noexcept { return std::move(result); }

  outcome<T> result;
};

// A promise that is asked for its result is done: without an error, it has one.
template <>
struct promise<void> final : task_promise {
  explicit promise(source_place body = source_place::current()) noexcept : task_promise(body) {}
  task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void unhandled_exception() noexcept { error = std::current_exception(); }

  void get() {
    if (error != nullptr) std::rethrow_exception(std::move(error));
  }
  outcome<void> take() noexcept {
    outcome<void> how;
    if (error != nullptr)
      how.set_error(std::move(error));
    else
      how.set_value();
    return how;
  }

  std::exception_ptr error;
};

// Awaits a task in the fiber that awaits; owns its frame.
template <class T>
class task_await : protected await_link {
 public:
  using handle = std::coroutine_handle<promise<T>>;
  explicit task_await(handle frame) noexcept : await_link(frame) {
    if (debugging()) note_begun(&frame.promise());
  }
  task_await(const task_await&) = delete;
  task_await& operator=(const task_await&) = delete;
  ~task_await() {
    if (child_frame) child_frame.destroy();
  }

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<promise_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) noexcept {
    parent_frame = as_frame(frame);
    const handle child = awaited();
    child.promise().awaited_by = this;
    fiber::current()->hand_over(as_frame(child));
  }
  T await_resume() { return awaited().promise().get(); }

 protected:
  handle awaited() const noexcept { return handle::from_address(child_frame.address()); }
};

}  // namespace detail

template <class T>
class [[nodiscard]] task {
 public:
  using promise_type = detail::promise<T>;

  task() noexcept = default;  // empty: may only be assigned to
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (!frame_) return;
    if (detail::debugging()) detail::report_never_begun(&frame_.promise());
    frame_.destroy();
  }

  explicit operator bool() const noexcept { return static_cast<bool>(frame_); }
  detail::task_await<T> operator co_await() && noexcept { return detail::task_await<T>(release()); }

  // For what runs tasks: the frame, which has not begun; the caller owns it from here on.
  std::coroutine_handle<promise_type> release() noexcept {
    LOOPTASK_ASSERT(frame_, "task awaited or started twice, or empty");
    return std::exchange(frame_, {});
  }
  // For what refuses to run a task: frees it, which has not begun, and nobody need hear of it. Empty: nothing.
  void discard() noexcept {
    if (!frame_) return;
    if (detail::debugging()) detail::note_begun(&frame_.promise());
    std::exchange(frame_, {}).destroy();
  }

 private:
  friend promise_type;
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  std::coroutine_handle<promise_type> frame_;
};

namespace detail {

template <class T>
task<T> promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<promise<T>>::from_promise(*this));
}
inline task<void> promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<promise<void>>::from_promise(*this));
}

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

template <class F>
concept task_function = std::invocable<F&> && is_task<std::invoke_result_t<F&>>;

// Keeps a closure alive as long as the coroutine it has made.
template <task_function F>
std::invoke_result_t<F&> keeping(F closure) {
  co_return co_await closure();
}

// A fiber that, once begun, owns itself.
template <class T>
class owning_fiber : public fiber {
 public:
  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }

  owning_fiber(looptask::loop& where, cancel_scope* scope, task<T> work) noexcept  // and begins
      : fiber(where, scope, as_frame(work.release())) {
    begin();
  }
  virtual ~owning_fiber() = default;

 protected:
  struct later {};
  owning_fiber(looptask::loop& where, cancel_scope* scope, task<T> work, later) noexcept  // begin() is the caller's
      : fiber(where, scope, as_frame(work.release())) {}
  outcome<T> take_result() noexcept {
    return std::coroutine_handle<promise<T>>::from_address(outermost().address()).promise().take();
  }
  void discard() noexcept override { delete this; }
};

template <class T, class F>
class spawned final : public owning_fiber<T> {
 public:
  spawned(looptask::loop& where, cancel_scope* scope, task<T> work, F on_done)
      : owning_fiber<T>(where, scope, std::move(work)), on_done_(std::move(on_done)) {}

 private:
  void ended() override {
    outcome<T> how = this->take_result();
    F on_done = std::move(on_done_);
    delete this;  // before the call: whoever is told that the task is over finds nothing of it
    on_done(std::move(how));
  }
  [[no_unique_address]] F on_done_;
};

class unawaited final : public owning_fiber<void> {
 public:
  using owning_fiber::owning_fiber;

 private:
  void ended() override;  // reports its exception to the loop
};

// The scope of loop::run(task), cancelled by loop::stop(). Ends what still runs in it when it is left by an exception.
class main_scope {
 public:
  explicit main_scope(loop& where);
  ~main_scope();
  main_scope(const main_scope&) = delete;
  main_scope& operator=(const main_scope&) = delete;
  cancel_scope& get() noexcept { return *scope_; }
  void run_until(const bool& done);

 private:
  loop& loop_;
  std::unique_ptr<cancel_scope> scope_;
};

void adopt(cancel_scope& scope, fiber& what) noexcept;

}  // namespace detail

// Runs `work` from the next turn on. `on_done(outcome<T>)` is called on the loop's thread when it has ended, unless the loop is
// destroyed first. Cancelling `scope`, which must outlive the task, cancels it; any number of tasks may be spawned in one
// scope, but not in one that a task is in by cancel_scope::run, nor in that of a task_group: asserted. `by`: for debug mode.
template <class T, class F>
requires std::invocable<F&, outcome<T>>
void spawn(loop& where, cancel_scope& scope, task<T> work, F on_done, source_place by = source_place::current()) {
  auto* const made = new detail::spawned<T, F>(where, &scope, std::move(work), std::move(on_done));
  if (detail::debugging()) detail::note_started(*made, by);
  detail::adopt(scope, *made);
}
template <class T, class F>
requires std::invocable<F&, outcome<T>>
void spawn(loop& where, task<T> work, F on_done, source_place by = source_place::current()) {
  auto* const made = new detail::spawned<T, F>(where, nullptr, std::move(work), std::move(on_done));
  if (detail::debugging()) detail::note_started(*made, by);
  where.add_resident(*made);
}
// Without on_done: its exception goes to loop::on_error.
void spawn(loop& where, task<void> work, source_place by = source_place::current());
// A closure that makes the task, kept as long as it.
template <detail::task_function F>
void spawn(loop& where, F closure, source_place by = source_place::current()) {
  spawn(where, detail::keeping(std::move(closure)), by);
}

template <class T>
T loop::run(task<T> main) {
  outcome<T> result;
  bool done = false;
  detail::main_scope scope(*this);
  spawn(*this, scope.get(), std::move(main), [&result, &done](outcome<T> how) {
    result = std::move(how);
    done = true;
  });
  scope.run_until(done);
  return std::move(result).get();
}

}  // namespace looptask
