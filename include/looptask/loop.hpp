#pragma once
// The event loop: ready -> poll -> timers -> idle, on one thread (docs/loop.md).
//
// A loop is built, run and destroyed on one thread (its owner); every function not marked "any thread" asserts that. A turn
// runs only what was ready when it began, in FIFO order. Timers are exact, never early; equal deadlines fire in order of
// arming. An exception that leaves a callback goes to the error handler; the default prints it and aborts the process.
//
//   looptask::real_host host;
//   looptask::loop loop(host);
//   loop.call_later(1s, [] { ... });
//   loop.run();
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/host.hpp>
#include <looptask/list.hpp>
#include <looptask/time.hpp>
#include <looptask/timer.hpp>

namespace looptask {

template <class T>
class task;

class mailbox;
struct letter;
class timer_queue;

struct runnable_tag;
struct resident_tag;

namespace detail {
inline constinit thread_local char this_thread = 0;  // whose address tells threads apart
}

// Work for the ready queue that lies inside what it belongs to. Leaves the queue when it is destroyed.
class runnable : public list_node<runnable_tag> {
 public:
  virtual void run() = 0;               // once for each time it was queued; may destroy itself
  virtual void discard() noexcept = 0;  // instead of run(): the loop is being destroyed; may destroy itself

 protected:
  ~runnable() = default;
};

// Work that must not outlive the loop even while it is not queued (a task). discard() is called while the loop is being
// destroyed.
class resident : public runnable, public list_node<resident_tag> {
 protected:
  ~resident() = default;
};

// A weak reference to a loop. Copyable, any thread.
class loop_handle {
 public:
  loop_handle() noexcept = default;
  bool post(unique_function<void()> work) const;          // false, and the work is destroyed, once the loop is gone
  bool post_to(unique_function<void(loop&)> work) const;  // the same, for work that wants to know the loop it is on
  bool stop() const noexcept;                             // false once the loop is gone

 private:
  friend class loop;
  explicit loop_handle(std::shared_ptr<mailbox> box) noexcept : mailbox_(std::move(box)) {}
  std::shared_ptr<mailbox> mailbox_;
};

// As long as one exists, run() goes on waiting: for what comes from another thread, from a child process, from a signal.
class loop_hold {
 public:
  loop_hold() noexcept = default;
  loop_hold(loop_hold&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  loop_hold& operator=(loop_hold&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~loop_hold();  // before the loop's own end

 private:
  friend class loop;
  explicit loop_hold(loop& held) noexcept : held_(&held) {}
  loop* held_ = nullptr;
};

struct loop_statistics {
  std::uint64_t turns = 0;
  std::uint64_t polls = 0;      // calls of reactor_port::wait
  std::uint64_t callbacks = 0;  // ready, posted and idle work
  std::uint64_t timers = 0;     // timers fired
  std::size_t armed = 0;        // timers armed now
  std::size_t watched = 0;      // descriptors watched through the loop now
  std::size_t holds = 0;
};

class loop final : public inbox {
 public:
  explicit loop(host& where);  // `where` must outlive the loop
  // Destroys, without running it, what is still ready, posted, idle or armed, and the tasks that are not done.
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  host& where() noexcept { return host_; }
  // The clock as read in the turn before, after its poll if it had one: the same for all that is ready in a turn, and for its
  // timers, if it comes to them. Outside of run(), and in readiness handlers, the clock itself.
  monotonic_time now() const noexcept;
  // The clock itself plus `delay`, without overflow: where relative delays end. They count from the call and not from now(),
  // so that what has computed for a while before it sleeps does not wake early.
  monotonic_time after(duration delay) const noexcept;

  void call_soon(unique_function<void()> work);
  void call_soon(runnable& work) noexcept;  // no-op if it is queued; stays where it is in the queue
  timer_handle call_at(monotonic_time when, unique_function<void()> work);
  timer_handle call_later(duration delay, unique_function<void()> work);  // see after()
  // Runs once when everything due at this instant has been handled: nothing is ready, a poll found nothing and no timer was
  // due. Under a load that never pauses: after 64 turns at the latest.
  void call_idle(unique_function<void()> work);

  // As reactor_port's functions of these names; run() goes on while something is watched through them.
  void watch(int fd, readiness wanted, readiness_handler& handler);
  void rewatch(int fd, readiness wanted);
  void unwatch(int fd) noexcept;

  // Any thread; wakes the loop if it sleeps. Work that was accepted runs, in the order accepted, or is destroyed with the
  // loop, exactly once. Through a loop_handle if the caller may outlive the loop.
  void post(unique_function<void()> work) override;
  loop_handle handle() noexcept { return loop_handle(mailbox_); }
  [[nodiscard]] loop_hold hold() noexcept;

  // All three throw what the host throws for itself (host_failure), and nothing else but the task's exception.
  void run();                              // until stop(), or until nothing is ready, posted, idle, armed, watched or held
  void run_once();                         // one turn; if nothing is ready, it waits as run() would
  void run_once(monotonic_time deadline);  // the same, but waits until then at the latest
  void poll();                             // one turn that does not wait
  // Until the task is done; returns its result or throws its exception. stop() cancels the task. In <looptask/task.hpp>.
  template <class T>
  T run(task<T> main);
  // Any thread. run() returns after the current turn; if it is not running, the next run() takes one turn without waiting.
  void stop() noexcept;

  // For running inside of another event loop: wait until native_fd() can be read or next_deadline() has come, then poll(), and
  // again. docs/loop.md has it for Asio, libuv and GLib. Not from inside of a callback of this loop.
  int native_fd() const noexcept;  // -1 in virtual time. The loop's: not to be read, nor closed
  // When poll() is wanted next at the latest; an instant that has passed: at once; nullopt: something must come from outside.
  // From this call on until the next turn what comes, a post or a stop too, makes native_fd() readable.
  std::optional<monotonic_time> next_deadline() noexcept;

  // How late the timers of this loop may fire, so that those which are due close together share one wake-up. Never early. Zero
  // (the default): exact.
  void set_timer_slack(duration slack) noexcept;

  // The handler must not throw. It serves callbacks, timers, idle and posted work, readiness handlers and unawaited tasks.
  void on_error(unique_function<void(std::exception_ptr)> handler);
  void report(std::exception_ptr error) noexcept;  // hands it to that handler

  loop_statistics statistics() const noexcept;

  // For the layers above: see resident (while the loop is being destroyed, it is discarded at once); a share of the turn's
  // budget for operations that need not wait (false: it is spent, let others run first); and run() until `done`, which
  // something the loop runs will set. `stopped` is called at stop().
  void add_resident(resident& what) noexcept;
  bool spend() noexcept { return budget_ > 0 && budget_-- > 0; }
  void run_until(const bool& done, unique_function<void()> stopped);
  void assert_owner() const noexcept {
    LOOPTASK_ASSERT(owner_ == &detail::this_thread, "call of a loop from a thread other than its owner (use post)");
  }

 private:
  friend class timer;
  friend class loop_hold;
  enum class waiting : std::uint8_t { as_needed, if_nothing_ran, never };

  void turn(waiting how, monotonic_time limit = monotonic_time::max());
  void one_turn(waiting how, monotonic_time limit = monotonic_time::max());
  std::optional<monotonic_time> wakes_at() const noexcept;
  bool may_pass_over_poll() noexcept;
  std::size_t run_ready() noexcept;
  std::size_t run_posted(letter* first) noexcept;
  bool ask_host(bool may_wait, monotonic_time limit);
  std::size_t run_timers() noexcept;
  void run_idle(bool quiet) noexcept;
  bool alive() const noexcept;
  bool work_waits() const noexcept;
  template <class F>
  void guarded(F&& call) noexcept;

  host& host_;
  const void* const owner_;
  list<runnable, runnable_tag> ready_;
  list<runnable, runnable_tag> batch_;  // of this turn
  std::int32_t budget_ = 0;
  bool running_ = false;
  bool polling_ = false;
  bool closed_ = false;
  const bool* goal_ = nullptr;  // of run_until
  std::uint32_t since_poll_ = 0;
  std::uint32_t idle_turns_ = 0;
  monotonic_time now_{};
  monotonic_time polled_at_{};
  std::unique_ptr<timer_queue> timers_;
  duration slack_{0};
  std::shared_ptr<mailbox> mailbox_;
  std::size_t watched_ = 0;
  std::size_t holds_ = 0;
  list<runnable, runnable_tag> idle_;
  list<resident, resident_tag> residents_;
  unique_function<void(std::exception_ptr)> on_error_;
  loop_statistics counts_;
};

}  // namespace looptask
