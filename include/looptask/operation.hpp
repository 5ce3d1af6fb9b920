#pragma once
// What a task waits for. `operation` is the one base of everything that can be awaited besides a task; `fiber` is one line of
// execution: a chain of coroutines that await each other, whose innermost one runs or waits for one operation.
//
// Owner: the loop's thread. Rules that must stay true:
//   - Every await of an operation is a cancel point: if a scope around it is cancelled, it throws `cancelled` before it does
//     anything, also if it could have completed at once. It gives up the turn only if it must wait or the turn's budget is
//     spent.
//   - A waiting operation ends once, by its result or by `cancelled`, whichever came first. What came second is not lost: a
//     result that came first is delivered and the cancellation strikes at the next await; after a cancellation there is no
//     result, because withdraw() has taken the operation back.
//   - Coroutines are resumed by fiber::run() in a loop and never from within each other: the stack stays flat, whatever the
//   depth.
//
//   struct next_beat final : looptask::operation {          // an awaitable of one's own: co_await next_beat(drum);
//     bool await_ready() { return strikes_now(); }
//     void await_resume() { finish(); }
//     void start() override { drum_.listen(*this); }        // and the drum calls complete()
//     bool withdraw() noexcept override { return drum_.forget(*this), true; }
//   };
#include <concepts>
#include <coroutine>
#include <cstdint>

#include <looptask/debug.hpp>
#include <looptask/loop.hpp>

namespace looptask {

// Thrown out of an await when a scope around it is cancelled. Not a std::exception, so that handlers of errors let it pass; who
// catches it for clean-up must rethrow it.
class cancelled {};

class cancel_scope;
class operation;

namespace detail {

class fiber;
struct promise_base;
struct binding;

struct await_link;

// The first base of every promise here, which is aligned as a frame is at most: so frame_handle reaches it in each frame.
struct promise_base {
  await_link* awaited_by = nullptr;  // nullptr: the outermost of its fiber
};
using frame_handle = std::coroutine_handle<promise_base>;

template <std::derived_from<promise_base> Promise>
frame_handle as_frame(std::coroutine_handle<Promise> frame) noexcept {
  static_assert(alignof(Promise) <= 2 * sizeof(void*), "a task has no result that is aligned more than its frame");
  const frame_handle made = frame_handle::from_address(frame.address());
  LOOPTASK_ASSERT(&made.promise() == static_cast<promise_base*>(&frame.promise()), "promise_base is not the first base");
  return made;
}

// Stands between a task that is awaited and the frame that awaits it.
struct await_link {
  await_link() noexcept = default;
  explicit await_link(std::coroutine_handle<> child) noexcept : child_frame(child) {}
  frame_handle parent_frame;
  std::coroutine_handle<> child_frame;  // owned
};

// What a fiber has to know of the scope it runs in without knowing scopes.
struct scope_state {
  bool effective = false;  // cancelled, or in one that is
};

class fiber : public resident {
 public:
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  // The one that runs now on this thread; nullptr outside of tasks.
  static fiber* current() noexcept { return running; }

  looptask::loop& loop() const noexcept { return loop_; }
  cancel_scope* scope() const noexcept;
  void set_scope(cancel_scope* scope) noexcept;
  void inherit(const fiber& from) noexcept;  // its task_local values instead of those of the task that runs
  bool is_cancelled() const noexcept { return scope_ != nullptr && scope_->effective; }
  void strike() noexcept;  // cancelled from outside: takes back the operation it waits for, if that can be

  void hand_over(frame_handle next) noexcept { next_ = next; }
  void park(frame_handle innermost) noexcept {  // whoever parks it sees to it that it is woken
    next_ = innermost;
    parked_ = true;
  }
  void wait_for(operation& what, frame_handle innermost) noexcept {
    waits_for_ = &what;
    park(innermost);
  }
  void wake() noexcept {
    waits_for_ = nullptr;
    loop_.call_soon(*this);
  }
  void abandon(operation& what) noexcept {  // the frame that waited is being destroyed
    if (waits_for_ == &what) waits_for_ = nullptr;
  }
  void outermost_done(frame_handle frame) noexcept {
    park(frame);
    done_ = true;
  }

 protected:
  // Owns the outermost frame from here on. Of the loop's thread.
  fiber(looptask::loop& where, cancel_scope* scope, frame_handle outermost) noexcept;
  ~fiber() {
    destroy_frames();
    if (debugging()) note_ended(*this);
  }

  void destroy_frames() noexcept;                            // innermost first, so that the stack stays flat; idempotent
  void begin() noexcept { loop_.call_soon(*this); }          // runs from the next turn on
  frame_handle outermost() const noexcept { return next_; }  // before it has begun, and when it has ended
  virtual void ended() = 0;                                  // the outermost coroutine is done; may destroy the fiber

 private:
  friend class bound;
  friend const binding* innermost_binding(const void* key) noexcept;
  void run() final;
  void drop_bindings() noexcept;

  inline static constinit thread_local fiber* running = nullptr;

  looptask::loop& loop_;
  scope_state* scope_;
  operation* waits_for_ = nullptr;
  binding* bindings_ = nullptr;  // the innermost: <looptask/task_local.hpp>
  frame_handle next_;            // to be resumed next; while parked: the innermost
  bool parked_ = true;           // next_ is to be resumed in a later turn, if at all
  bool done_ = false;
};

}  // namespace detail

// The loop of the running task. Misuse outside of a task.
loop& this_loop() noexcept;

class operation {
 public:
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  template <std::derived_from<detail::promise_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> frame) {
    state_ = state::waiting;
    fiber_->wait_for(*this, detail::as_frame(frame));
    start();
  }

 protected:
  operation() noexcept = default;
  // The frame that waits may be destroyed with its loop: a derived class must then be taken back by its own destructor.
  ~operation() {
    if (state_ == state::waiting) fiber_->abandon(*this);
  }

  // For await_ready of derived classes, first of all: true if cancellation strikes here; then return true as well.
  bool strikes_now() noexcept {
    enter_uncancelled();
    if (!fiber_->is_cancelled()) return false;
    state_ = state::cancelled;
    return true;
  }
  void enter_uncancelled() noexcept {  // instead: this await is no cancel point
    LOOPTASK_ASSERT(state_ == state::idle || state_ == state::done, "operation awaited while a task waits for it");
    fiber_ = detail::fiber::current();
    LOOPTASK_ASSERT(fiber_ != nullptr, "operation awaited outside of a task");
  }
  // For an await_suspend of its own, of what is to go on in the next turn whatever happens.
  template <std::derived_from<detail::promise_base> Promise>
  void give_way(std::coroutine_handle<Promise> frame) noexcept {
    state_ = state::completed;
    fiber_->park(detail::as_frame(frame));
    fiber_->wake();
  }
  bool spend() noexcept { return fiber_->loop().spend(); }  // whether it may complete without waiting in this turn
  // For await_resume, first of all: throws `cancelled` if that is how it ended.
  void finish() {
    if (state_ == state::cancelled) throw cancelled();
    state_ = state::done;
  }
  void complete() noexcept {  // while waiting: its result is there. The task goes on in the next turn
    LOOPTASK_ASSERT(state_ == state::waiting, "operation completed that does not wait");
    state_ = state::completed;
    fiber_->wake();
  }
  bool is_waiting() const noexcept { return state_ == state::waiting; }
  bool has_completed() const noexcept { return state_ == state::completed; }  // and its task has not gone on yet
  loop& where() const noexcept { return fiber_->loop(); }
  const detail::fiber& awaited_by() const noexcept { return *fiber_; }
  // Asks withdraw() once more if it waits in a cancelled scope: for one that could not be taken back before, and now can.
  void strike_again() noexcept {
    if (is_waiting()) fiber_->strike();
  }

  // Begin to wait; may complete() at once. Must not throw.
  virtual void start() = 0;
  // Cancellation, while it waits; also from within start(), if that cancels. True: taken back, it will not complete. False: it
  // cannot be taken back and will complete().
  virtual bool withdraw() noexcept = 0;

 private:
  friend class detail::fiber;
  enum class state : std::uint8_t { idle, waiting, completed, cancelled, done };

  detail::fiber* fiber_ = nullptr;
  state state_ = state::idle;
};

}  // namespace looptask
