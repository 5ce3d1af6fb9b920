#pragma once
// Cancellation: a tree of scopes. What runs inside a cancelled scope finds each of its awaits throwing `cancelled`, again and
// again until it has left the scope (level-triggered). The exception travels up to the outermost cancelled scope, which
// absorbs it. A shielded scope keeps the cancellation of the scopes around it out; its own reaches inside.
//
// Owner: the loop's thread. An operation that ended in the same turn before the cancellation came delivers its result; the
// cancellation strikes at the next await. A deadline is a cancellation at that instant. A scope belongs to its loop: after the
// loop's end it may only be destroyed.
//
//   std::optional<page> p = co_await looptask::move_on_after(2s, fetch(url));   // nullopt: it took longer
//   page q = co_await looptask::with_timeout(2s, fetch(url));                   // throws timeout_error
//   looptask::cancel_scope scope(loop);                                        // somebody calls scope.cancel()
//   if (!co_await scope.run(copy(files))) log("cancelled");
#include <coroutine>
#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <looptask/list.hpp>
#include <looptask/loop.hpp>
#include <looptask/operation.hpp>
#include <looptask/task.hpp>
#include <looptask/timer.hpp>

namespace looptask {

class timeout_error : public std::runtime_error {
 public:
  timeout_error() : std::runtime_error("timed out") {}
};

namespace detail {
struct scope_tag;
struct struck_tag;
template <class T>
class scoped_await;
class started;
}  // namespace detail

class cancel_scope : private list_node<detail::scope_tag>, private list_node<detail::struck_tag>, private detail::scope_state {
 public:
  enum class shielding : bool { open, shielded };

  explicit cancel_scope(loop& where, shielding shield = shielding::open) noexcept;
  ~cancel_scope();  // after everything that ran in it has ended
  cancel_scope(const cancel_scope&) = delete;
  cancel_scope& operator=(const cancel_scope&) = delete;

  void cancel() noexcept;                   // idempotent; may be called before anything runs inside
  void cancel_at(monotonic_time deadline);  // replaces an earlier deadline; one that has passed cancels in the next turn
  void cancel_after(duration delay) { cancel_at(loop_.after(delay)); }
  void keep_open() noexcept { deadline_.cancel(); }  // takes the deadline back

  bool cancel_called() const noexcept { return cancelled_; }  // of this scope
  bool is_cancelled() const noexcept { return effective; }    // of this one, or of one around it that it is not shielded from
  // Awaited in a task: runs `work` inside this scope. The result, or nullopt (for task<void>: true, or false) if the scope was
  // cancelled and `work` gave way. Throws what `work` throws, `cancelled` only on behalf of a scope further out. One at a time,
  // and not together with tasks that were spawn()ed in the scope: what is to run at the same time runs in a task_group inside.
  template <class T>
  detail::scoped_await<T> run(task<T> work);

 private:
  friend class detail::fiber;
  friend class detail::started;
  template <class T>
  friend class detail::scoped_await;
  friend class task_group;
  friend class detail::main_scope;
  friend void detail::adopt(cancel_scope& scope, detail::fiber& what) noexcept;
  friend class list<cancel_scope, detail::scope_tag>;
  friend class list<cancel_scope, detail::struck_tag>;
  using child_list = list<cancel_scope, detail::scope_tag>;

  // Tells the loop about fibers that were spawned in the scope: they belong to no task and end with the loop.
  class anchor final : public resident {
   public:
    explicit anchor(cancel_scope& of) noexcept : of_(of) {}
    ~anchor() = default;
    void run() override {}
    void discard() noexcept override { of_.end_fibers(); }

   private:
    cancel_scope& of_;
  };

  void enter(detail::fiber& by) noexcept;  // becomes the innermost scope of `by`
  void leave() noexcept;
  void attach_to(cancel_scope* parent) noexcept;
  void end_fibers() noexcept;
  void strike() noexcept;
  cancel_scope* next_in_tree(const cancel_scope& root, bool skip_children) noexcept;
  bool absorbs() const noexcept { return cancelled_ && (parent_ == nullptr || shielded_ || !parent_->effective); }

  loop& loop_;
  cancel_scope* parent_ = nullptr;
  child_list children_;
  list<detail::fiber, resident_tag> fibers_;  // that were started in this scope
  detail::fiber* runs_in_ = nullptr;          // that entered it
  bool shielded_;
  bool of_group_ = false;  // only the group starts tasks in it
  bool cancelled_ = false;
  anchor anchor_{*this};
  timer_of<&cancel_scope::cancel> deadline_;
};

namespace detail {

// optional<T>, or bool for void.
template <class T>
using unless_cancelled = std::conditional_t<std::is_void_v<T>, bool, std::optional<T>>;

template <class T>
class scoped_await : public task_await<T> {
 public:
  scoped_await(cancel_scope& scope, task<T> work) noexcept : task_await<T>(work.release()), scope_(scope) {}
  ~scoped_await() {
    if (entered_) scope_.leave();
  }

  template <std::derived_from<promise_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) noexcept {
    scope_.enter(*fiber::current());
    entered_ = true;
    task_await<T>::await_suspend(frame);
  }
  unless_cancelled<T> await_resume() {
    const bool absorbs = scope_.absorbs();
    scope_.leave();
    entered_ = false;
    try {
      if constexpr (std::is_void_v<T>) {
        task_await<T>::await_resume();
        return true;
      } else {
        return std::optional<T>(task_await<T>::await_resume());
      }
    } catch (const cancelled&) {
      if (!absorbs) throw;
    }
    return {};
  }

 private:
  cancel_scope& scope_;
  bool entered_ = false;
};

}  // namespace detail

template <class T>
detail::scoped_await<T> cancel_scope::run(task<T> work) {
  return detail::scoped_await<T>(*this, std::move(work));
}

// Runs `work` and cancels it at the deadline; nullopt (for task<void>: false) if that ended it.
template <class T>
task<detail::unless_cancelled<T>> move_on_at(monotonic_time deadline, task<T> work) {
  cancel_scope scope(this_loop());
  scope.cancel_at(deadline);
  co_return co_await scope.run(std::move(work));
}
// The delay counts from the moment the result is awaited.
template <class T>
task<detail::unless_cancelled<T>> move_on_after(duration delay, task<T> work) {
  cancel_scope scope(this_loop());
  scope.cancel_after(delay);
  co_return co_await scope.run(std::move(work));
}

// As move_on_after, but throws timeout_error.
template <class T>
task<T> with_timeout(duration delay, task<T> work) {
  cancel_scope scope(this_loop());
  scope.cancel_after(delay);
  auto result = co_await scope.run(std::move(work));
  if (!result) throw timeout_error();
  if constexpr (!std::is_void_v<T>) co_return std::move(*result);
}

// Runs `work` to its end, whatever is cancelled around it. The next await outside then throws.
template <class T>
task<T> shield(task<T> work) {
  cancel_scope scope(this_loop(), cancel_scope::shielding::shielded);
  auto result = co_await scope.run(std::move(work));
  LOOPTASK_ASSERT(result, "nobody cancels the scope of a shield");
  if constexpr (!std::is_void_v<T>) co_return std::move(*result);
}

}  // namespace looptask
