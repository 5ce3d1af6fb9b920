#pragma once
// Tasks that run at the same time and end together: nothing started in a group outlives it.
//
// Owner: the loop's thread. with_task_group(body) runs `body(group)` and returns when it and all tasks started in the group
// have ended. The first that fails cancels all others. Then: one failure is rethrown as it is, several as aggregate_error; if
// there is none and the group was cancelled from further out, `cancelled`; a group that cancelled itself ends normally.
// Children may refer to what lives outside of the body, not to the body's own locals: the body may end before them.
//
// With a limit at most so many children have begun and not ended. start() then puts a child into a queue, first in, first out
// and without bound; start_when_free() waits for a place instead, behind those that asked before, and bounds what waits. What
// has not begun when the group is cancelled never begins: it is destroyed when a place becomes free, and counted as refused.
// Children that wait for a place in their own group may wait for each other for ever: let the body do that.
//
//   int done = 0;
//   co_await looptask::with_task_group([&](looptask::task_group& group) -> looptask::task<> {
//     for (const auto& url : urls) group.start(fetch(url, done));
//     co_return;
//   });
//   co_await looptask::with_task_group(8, [&](looptask::task_group& group) -> looptask::task<> {
//     while (auto url = co_await next_url()) co_await group.start_when_free(fetch(*url, done));   // 8 at a time
//   });
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <looptask/list.hpp>
#include <looptask/scope.hpp>
#include <looptask/source_place.hpp>
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
class group_start_await;
class group_child;
}  // namespace detail

struct task_group_statistics {
  std::size_t running = 0;    // children that have begun and not ended
  std::size_t queued = 0;     // by start(), beyond the limit
  std::size_t waiting = 0;    // tasks in start_when_free()
  std::uint64_t started = 0;  // children that have begun
  std::uint64_t refused = 0;  // that never will, because of a cancellation
};

class task_group {
 public:
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  static constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

  // Runs from the next turn on, or when its turn in the queue has come. Also from outside of the body, while the group lives.
  // `by`: for debug mode.
  void start(task<void> child, source_place by = source_place::current());
  template <detail::task_function F>
  void start(F closure, source_place by = source_place::current()) {  // kept as long as its task
    start(detail::keeping(std::move(closure)), by);
  }
  // co_await: waits until fewer than limit() children run, then starts the child; true. False if the group has been cancelled
  // and refuses it. A cancel point: a cancellation of the waiting task, too, destroys the child, which has not begun.
  [[nodiscard]] detail::group_start_await start_when_free(task<void> child, source_place by = source_place::current()) noexcept;
  template <detail::task_function F>
  [[nodiscard]] detail::group_start_await start_when_free(F closure, source_place by = source_place::current());
  void cancel() noexcept { scope_.cancel(); }
  cancel_scope& scope() noexcept { return scope_; }
  std::size_t running() const noexcept { return running_; }  // children that have begun and not ended
  std::size_t limit() const noexcept { return limit_; }
  task_group_statistics statistics() const noexcept { return {running_, queued_count_, waiting_count_, started_, refused_}; }

 private:
  template <class F>
  friend task<void> with_task_group(std::size_t limit, F body);
  friend class detail::group_body_await;
  friend class detail::group_join_await;
  friend class detail::group_start_await;
  friend class detail::group_child;

  explicit task_group(std::size_t limit) noexcept;  // in a running task
  ~task_group();

  void enter_body(detail::fiber& by) noexcept;
  void leave_body() noexcept;  // idempotent
  void child_ended(outcome<void> how);
  void failed(std::exception_ptr error);
  void throw_what_failed();
  detail::group_child& make_child(task<void> work, const source_place& by);
  void begin(detail::group_child& child) noexcept;
  void fill_places();  // after this nobody waits if a place is free

  cancel_scope scope_;
  const std::size_t limit_;
  std::size_t running_ = 0;
  list<detail::fiber, runnable_tag> queued_;  // children that have not begun; also in the scope
  list<detail::group_start_await> waiting_;   // for a place
  std::size_t queued_count_ = 0;
  std::size_t waiting_count_ = 0;
  std::uint64_t queued_ever_ = 0;  // tells who of the two lists asked first
  std::uint64_t unqueued_ever_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t refused_ = 0;
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

// Owns the child until it has begun.
class group_start_await final : public operation, private list_node<> {
 public:
  group_start_await(task_group& group, task<void> child, source_place by) noexcept
      : group_(group), child_(std::move(child)), by_(by) {}
  ~group_start_await();
  bool await_ready();
  bool await_resume() {
    finish();
    return begun_;
  }

 private:
  friend class looptask::task_group;
  friend class list<group_start_await>;
  void start() override;
  bool withdraw() noexcept override;
  void decide() noexcept;  // a place is free, or the group refuses
  void leave() noexcept;

  task_group& group_;
  task<void> child_;
  source_place by_;
  std::uint64_t after_ = 0;  // so many of the queue go first
  bool begun_ = false;
};

}  // namespace detail

template <detail::task_function F>
detail::group_start_await task_group::start_when_free(F closure, source_place by) {  // kept as long as its task
  return start_when_free(detail::keeping(std::move(closure)), by);
}

// `limit`: how many children run at a time, at least 1. `body` is any callable that takes a task_group& and returns a
// task<void>; it is kept as long as the group. What it throws before it has made its task counts as that task's failure.
template <class F>
task<void> with_task_group(std::size_t limit, F body) {
  task_group group(limit);
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

template <class F>
task<void> with_task_group(F body) {
  return with_task_group(task_group::unlimited, std::move(body));
}

}  // namespace looptask
