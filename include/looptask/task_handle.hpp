#pragma once
// A task that runs by itself and can be joined: started now, awaited later, cancelled by name.
//
// Owner: the loop's thread. The task runs from the next turn on, in a scope of its own: handle.cancel() reaches it and nobody
// else. join() is a cancel point; cancelling who waits does not cancel the task, and the handle may be joined again. Destroying
// the handle of a task that runs cancels the task and lets it end; detach() lets it run. An exception that nobody will see any
// more goes to loop::on_error, `cancelled` after a cancellation excepted. A handle may outlive its loop, with which the task
// and its result go.
//
//   looptask::task_handle<page> ahead = looptask::start_task(loop, fetch(next_url));
//   co_await show(current);
//   page next = co_await ahead.join();
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <looptask/loop.hpp>
#include <looptask/memory_pool.hpp>
#include <looptask/operation.hpp>
#include <looptask/scope.hpp>
#include <looptask/task.hpp>

namespace looptask {

// The task that is joined gave way to a cancellation: of its handle, or of the scope it was started in.
class task_cancelled : public std::runtime_error {
 public:
  task_cancelled() : std::runtime_error("the task was cancelled before it had a result") {}
};

namespace detail {

class join_wait;

// The line of execution of a started task, with its scope. Owned by the run itself, the handle, and an await of it; it lies in
// its own scope to the end, since that is how it hears of the loop's end.
class started : public fiber {
 public:
  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }

  void add_owner() noexcept { ++owners_; }
  void drop_owner() noexcept;
  bool done() const noexcept { return done_; }
  void cancel() noexcept;
  void begin_in(cancel_scope* around) noexcept;
  static looptask::loop& loop_of(cancel_scope& scope) noexcept;

 protected:
  started(looptask::loop& where, frame_handle outermost) noexcept : fiber(where, &own_, outermost), own_(where) {}
  virtual ~started() { list_node<resident_tag>::unlink(); }

  void assert_in_use_by_one() const noexcept;
  void take() noexcept {
    LOOPTASK_ASSERT(!taken_, "task joined after it has given its result");
    taken_ = true;
  }
  void finished() noexcept;                         // the result is there, the frame is gone
  void discard() noexcept final;                    // with the loop; may be called again
  virtual std::exception_ptr error() noexcept = 0;  // of one that is done
  bool gave_way() const noexcept { return gave_way_; }

 private:
  friend class join_wait;
  void report_if_lost() noexcept;

  cancel_scope own_;
  join_wait* joined_by_ = nullptr;
  std::uint32_t owners_ = 1;  // the run
  bool done_ = false;
  bool gave_way_ = false;
  bool taken_ = false;
};

template <class T>
class started_task final : public started {
 public:
  started_task(looptask::loop& where, task<T> work) noexcept : started(where, as_frame(work.release())) { begin(); }
  T get() {
    take();
    if (gave_way()) throw task_cancelled();
    return std::move(*result_).get();
  }

 private:
  void ended() override {
    auto& promised = std::coroutine_handle<promise<T>>::from_address(outermost().address()).promise();
    try {
      if constexpr (std::is_void_v<T>)
        result_.emplace(promised.take());
      else
        result_.emplace(std::move(promised.result));
    } catch (...) {  // the value does not let itself be moved
      result_.emplace().set_error(std::current_exception());
    }
    destroy_frames();  // and with them the task's parameters
    finished();
  }
  std::exception_ptr error() noexcept override { return result_ ? result_->error() : nullptr; }

  std::optional<outcome<T>> result_;
};

class join_wait : public operation {
 public:
  bool await_ready() noexcept;

 protected:
  explicit join_wait(started& of) noexcept : of_(of) { of.add_owner(); }
  ~join_wait();
  started& of() const noexcept { return of_; }

 private:
  friend class started;
  void start() override;
  bool withdraw() noexcept override;
  started& of_;
};

template <class T>
class join_await final : public join_wait {
 public:
  explicit join_await(started_task<T>& of) noexcept : join_wait(of) {}
  T await_resume() {
    finish();
    return static_cast<started_task<T>&>(of()).get();
  }
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] task_handle {
 public:
  task_handle() noexcept = default;  // empty: may only be assigned to
  task_handle(task_handle&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  task_handle& operator=(task_handle&& other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~task_handle() {
    if (of_ == nullptr) return;
    of_->cancel();
    of_->drop_owner();
  }

  explicit operator bool() const noexcept { return of_ != nullptr; }
  bool done() const noexcept { return here().done(); }
  // The task's next await throws `cancelled`, unless it is in a shield. Idempotent; of no effect when it is done.
  void cancel() noexcept { here().cancel(); }
  // Awaited: the result, or throws the task's exception, or task_cancelled. By one task at a time, and once.
  detail::join_await<T> join() const noexcept { return detail::join_await<T>(here()); }
  detail::join_await<T> operator co_await() const noexcept { return join(); }
  // The task runs to its end without anybody who waits for it; the handle is empty.
  void detach() noexcept {
    here().drop_owner();
    of_ = nullptr;
  }

 private:
  template <class U>
  friend task_handle<U> start_task(loop& where, task<U> work);
  template <class U>
  friend task_handle<U> start_task(cancel_scope& scope, task<U> work);

  task_handle(loop& where, cancel_scope* around, task<T> work) : of_(new detail::started_task<T>(where, std::move(work))) {
    of_->add_owner();
    of_->begin_in(around);
  }
  detail::started_task<T>& here() const noexcept {
    LOOPTASK_ASSERT(of_ != nullptr, "task_handle that is empty");
    return *of_;
  }

  detail::started_task<T>* of_ = nullptr;
};

template <class T>
task_handle<T> start_task(loop& where, task<T> work) {
  return task_handle<T>(where, nullptr, std::move(work));
}
// The task is cancelled with `scope` as well, which must outlive it. As with spawn(): any number of tasks in one scope, but not
// in one that a task is in by cancel_scope::run, nor in that of a task_group: asserted.
template <class T>
task_handle<T> start_task(cancel_scope& scope, task<T> work) {
  return task_handle<T>(detail::started::loop_of(scope), &scope, std::move(work));
}
// A closure that makes the task, kept as long as it.
template <detail::task_function F>
auto start_task(loop& where, F closure) {
  return start_task(where, detail::keeping(std::move(closure)));
}
template <detail::task_function F>
auto start_task(cancel_scope& scope, F closure) {
  return start_task(scope, detail::keeping(std::move(closure)));
}

}  // namespace looptask
