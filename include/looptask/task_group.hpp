#pragma once
// Tasks that run at the same time and end together: nothing started in a group outlives it.
//
// Owner: the loop's thread. with_task_group(body) runs `body(group)` and returns when it and all tasks started in the group
// have ended. The first that fails cancels all others. Then: one failure is rethrown as it is, several as aggregate_error; if
// there is none and the group was cancelled from further out, `cancelled`; a group that cancelled itself ends normally.
// Children may refer to what lives outside of the body, not to the body's own locals: the body may end before them.
//
//   int done = 0;
//   co_await looptask::with_task_group([&](looptask::task_group& group) -> looptask::task<> {
//     for (const auto& url : urls) group.start(fetch(url, done));
//     co_return;
//   });
#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <looptask/scope.hpp>
#include <looptask/task.hpp>

namespace looptask {

// Two or more tasks of one group failed. what() names all that are std::exceptions.
class aggregate_error : public std::exception {
 public:
  explicit aggregate_error(std::vector<std::exception_ptr> errors);
  const std::vector<std::exception_ptr>& errors() const noexcept { return errors_; }  // in the order they ended
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::vector<std::exception_ptr> errors_;
  std::string what_;
};

namespace detail {
class group_body_await;
class group_join_await;
class group_child;
}  // namespace detail

class task_group {
 public:
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  void start(task<void> child);  // runs from the next turn on; also from outside of the body, while the group lives
  template <detail::task_function F>
  void start(F closure) {  // which is kept as long as its task
    start(detail::keeping(std::move(closure)));
  }
  void cancel() noexcept { scope_.cancel(); }
  cancel_scope& scope() noexcept { return scope_; }
  std::size_t running() const noexcept { return running_; }  // children that have not ended

 private:
  template <class F>
  friend task<void> with_task_group(F body);
  friend class detail::group_body_await;
  friend class detail::group_join_await;
  friend class detail::group_child;

  task_group() noexcept;  // in a running task
  ~task_group();

  void enter_body(detail::fiber& by) noexcept;
  void leave_body() noexcept;  // idempotent
  void child_ended(outcome<void> how);
  void failed(std::exception_ptr error);
  void throw_what_failed();

  cancel_scope scope_;
  std::size_t running_ = 0;
  bool gave_way_ = false;  // somebody ended by cancellation
  std::vector<std::exception_ptr> errors_;
  detail::group_join_await* joining_ = nullptr;
};

namespace detail {

// Runs the body in the group's scope.
class group_body_await final : public task_await<void> {
 public:
  group_body_await(task_group& group, task<void> body) noexcept : task_await<void>(body.release()), group_(group) {}
  ~group_body_await() { group_.leave_body(); }

  template <std::derived_from<promise_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) noexcept {
    group_.enter_body(*fiber::current());
    task_await<void>::await_suspend(frame);
  }
  void await_resume() {
    group_.leave_body();
    group_.child_ended(awaited().promise().take());
  }

 private:
  task_group& group_;
};

// Waits until no child runs. Cancellation reaches them, and through them ends the wait.
class group_join_await final : public operation {
 public:
  explicit group_join_await(task_group& group) noexcept : group_(group) {}
  ~group_join_await() { group_.joining_ = nullptr; }
  bool await_ready() noexcept {
    enter_uncancelled();
    return group_.running_ == 0;
  }
  void await_resume() { finish(); }

 private:
  friend class looptask::task_group;
  void start() override { group_.joining_ = this; }
  bool withdraw() noexcept override { return false; }
  task_group& group_;
};

}  // namespace detail

// `body` is any callable that takes a task_group& and returns a task<void>; it is kept as long as the group. What it throws
// before it has made its task counts as that task's failure.
template <class F>
task<void> with_task_group(F body) {
  task_group group;
  task<void> work;
  try {
    work = body(group);
    LOOPTASK_ASSERT(work, "body of a task group returned an empty task");
  } catch (...) {
    group.failed(std::current_exception());
  }
  if (work) co_await detail::group_body_await(group, std::move(work));
  // More than once if somebody starts a child between the end of the last one and the turn in which this goes on.
  while (group.running() != 0) co_await detail::group_join_await(group);
  group.throw_what_failed();
}

}  // namespace looptask
