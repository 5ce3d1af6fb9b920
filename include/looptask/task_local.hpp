#pragma once
// A value that goes with a task instead of through its parameters: a request id, a user, a language. As contextvars in Python.
//
// Owner: the loop's thread. run(value, task) binds the value for as long as that task runs; whatever is started from inside
// (children of groups, spawned tasks) has all bindings of its starter from that moment on, also when the binding task has
// ended. Later bindings of the starter do not reach it, nor its own the starter. Callbacks (call_soon, timers, posted work) are
// no tasks and have none. The value is const, shared, and destroyed with the last task that has it. Not a cancel point.
// A task without bindings pays for one pointer. The key must outlive its bindings: make it static.
//
//   inline const looptask::task_local<std::string> request_id("-");
//   co_await request_id.run("42", handle(request));        // and deep inside, or in its children:
//   log(request_id.get());
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <looptask/memory_pool.hpp>
#include <looptask/operation.hpp>
#include <looptask/task.hpp>

namespace looptask {

template <class T>
class task_local;

namespace detail {

// Bindings form a list from the innermost outwards; tails are shared. One use for each fiber or binding that points to it.
struct binding {
  explicit binding(const void* of) noexcept : key(of) {}
  binding(const binding&) = delete;
  binding& operator=(const binding&) = delete;
  virtual ~binding() = default;

  const void* const key;
  binding* outer = nullptr;
  std::size_t uses = 1;
};

template <class T>
struct value_binding final : binding {
  value_binding(const void* of, T bound) : binding(of), value(std::move(bound)) {}
  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }
  const T value;
};

// A binding and the fiber in which it is the innermost one.
class bound {
 public:
  explicit bound(binding& made) noexcept : made_(&made) {}
  bound(const bound&) = delete;
  bound& operator=(const bound&) = delete;
  ~bound() { leave(); }
  void enter(fiber& by) noexcept;
  void leave() noexcept;  // idempotent

 private:
  binding* made_;
  fiber* in_ = nullptr;
};

const binding* innermost_binding(const void* key) noexcept;  // of the running task; nullptr: none

template <class T>
class bound_await final : public task_await<T> {
 public:
  bound_await(binding& made, task<T> work) noexcept : task_await<T>(work.release()), bound_(made) {}
  ~bound_await() = default;

  template <std::derived_from<promise_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) noexcept {
    bound_.enter(*fiber::current());
    task_await<T>::await_suspend(frame);
  }
  T await_resume() {
    bound_.leave();
    return task_await<T>::await_resume();
  }

 private:
  bound bound_;
};

}  // namespace detail

template <class T>
class task_local {
 public:
  // `unbound`: what get() says where nothing is bound.
  explicit task_local(T unbound = T()) : unbound_(std::move(unbound)) {}
  task_local(const task_local&) = delete;
  task_local& operator=(const task_local&) = delete;

  // The innermost value of the running task; outside of tasks what stands for none. Valid as long as the task is in that run().
  const T& get() const noexcept {
    const T* const found = find();
    return found != nullptr ? *found : unbound_;
  }
  const T* find() const noexcept {  // nullptr: nothing is bound
    const detail::binding* const found = detail::innermost_binding(this);
    return found != nullptr ? &static_cast<const detail::value_binding<T>*>(found)->value : nullptr;
  }

  // Awaited in a task: runs `work` with the value. Its result or its exception.
  template <class U>
  detail::bound_await<U> run(T value, task<U> work) const {
    return detail::bound_await<U>(*new detail::value_binding<T>(this, std::move(value)), std::move(work));
  }

 private:
  const T unbound_;
};

}  // namespace looptask
