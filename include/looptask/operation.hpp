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

// Stands between a task that is awaited and the frame that awaits it.
struct await_link {
  await_link() noexcept = default;
  explicit await_link(std::coroutine_handle<> child) noexcept : child_frame(child) {}
  promise_base* parent = nullptr;
  std::coroutine_handle<> parent_frame;
  std::coroutine_handle<> child_frame;  // owned
};

struct promise_base {
  fiber* runs_on = nullptr;
  await_link* awaited_by = nullptr;  // nullptr: the outermost of its fiber
};

class fiber : public resident {
 public:
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  // The one that runs now on this thread; nullptr outside of tasks.
  static fiber* current() noexcept { return running; }

  looptask::loop& loop() const noexcept { return loop_; }
  cancel_scope* scope() const noexcept { return scope_; }
  void set_scope(cancel_scope* scope) noexcept { scope_ = scope; }
  bool is_cancelled() const noexcept;
  void strike() noexcept;  // cancelled from outside: takes back the operation it waits for, if that can be

  void hand_over(std::coroutine_handle<> next) noexcept { next_ = next; }
  void wait_for(operation& what, promise_base& innermost, std::coroutine_handle<> frame) noexcept {
    waits_for_ = &what;
    innermost_ = &innermost;
    next_ = frame;
    parked_ = true;
  }
  void wake() noexcept {
    waits_for_ = nullptr;
    loop_.call_soon(*this);
  }
  void abandon(operation& what) noexcept {  // the frame that waited is being destroyed
    if (waits_for_ == &what) waits_for_ = nullptr;
  }
  void outermost_done() noexcept { parked_ = done_ = true; }

 protected:
  fiber(looptask::loop& where, cancel_scope* scope) noexcept : loop_(where), scope_(scope) {}
  ~fiber() = default;

  void begin(promise_base& outermost, std::coroutine_handle<> frame) noexcept;  // runs from the next turn on
  void destroy_frames() noexcept;  // innermost first, so that the stack stays flat; the outermost one is the owner's
  virtual void ended() = 0;        // the outermost coroutine is done; may destroy the fiber

 private:
  void run() final;

  inline static constinit thread_local fiber* running = nullptr;

  looptask::loop& loop_;
  cancel_scope* scope_;
  operation* waits_for_ = nullptr;
  promise_base* innermost_ = nullptr;  // while parked
  std::coroutine_handle<> next_;       // to be resumed next
  bool parked_ = true;                 // next_ is to be resumed in a later turn, if at all
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
    fiber_->wait_for(*this, frame.promise(), frame);
    start();
  }

 protected:
  operation() noexcept = default;
  // The frame that waits may be destroyed with its loop: a derived class must then be taken back by its own destructor.
  ~operation() {
    if (state_ == state::waiting) fiber_->abandon(*this);
  }

  // For await_ready of derived classes, first of all: true if cancellation strikes here; then return true as well.
  bool strikes_now() noexcept;
  void enter_uncancelled() noexcept;                        // instead: this await is no cancel point
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
