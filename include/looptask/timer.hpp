#pragma once
// Timers that lie inside what they belong to: arming, re-arming and cancelling allocate nothing.
//
// Owner: the loop's thread. Never early: on_timer() is called in the first timers phase whose now() has reached the deadline;
// equal deadlines in order of arming. A deadline that has passed counts as now. cancel() works at any time, also in the turn
// in which the timer is due: then it is not called. Destroying a timer cancels it. A timer may outlive its loop, unarmed.
//
//   struct heart {
//     void beat() { beat_.arm_after(1s); }
//     looptask::timer_of<&heart::beat> beat_;
//     explicit heart(looptask::loop& l) : beat_(l, *this) { beat_.arm_after(1s); }
//   };
#include <cstddef>

#include <looptask/time.hpp>

namespace looptask {

class loop;

namespace detail {

// Where a timer is: in no place (next is null), in a slot of the wheel, or among those that are due (next is the timer itself).
struct timer_links {
  timer_links* next = nullptr;
  union {
    timer_links* previous = nullptr;
    std::size_t due_index;
  };
};

}  // namespace detail

// 40 bytes. Derive, or use timer_of.
class timer : private detail::timer_links {
 public:
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  void arm(monotonic_time when);   // re-arms if it is armed; it then counts as armed last among equal deadlines
  void arm_after(duration delay);  // at loop::after(delay)
  void cancel() noexcept;          // idempotent; gone at once
  bool armed() const noexcept { return next != nullptr; }
  monotonic_time deadline() const noexcept { return deadline_; }  // of the last arming

 protected:
  timer() noexcept : loop_(nullptr) {}  // bind() it before it is armed
  explicit timer(loop& where) noexcept : loop_(&where) {}
  void bind(loop& where) noexcept { loop_ = &where; }
  void preset(monotonic_time when) noexcept { deadline_ = when; }  // while it is not armed: only what deadline() says
  ~timer() { cancel(); }

  // On the loop's thread; the timer is no longer armed, may be armed again and may destroy itself. What it throws goes to
  // loop::on_error.
  virtual void on_timer() = 0;
  // The loop is being destroyed while the timer is armed. It may destroy itself.
  virtual void on_loop_gone() noexcept {}

 private:
  friend class loop;
  friend class timer_queue;

  monotonic_time deadline_{};
  loop* loop_;
};

namespace detail {
template <class Member>
struct member_owner;
template <class Owner>
struct member_owner<void (Owner::*)()> {
  using type = Owner;
};
template <class Owner>
struct member_owner<void (Owner::*)() noexcept> {
  using type = Owner;
};
}  // namespace detail

// Calls a member function of its owner. 48 bytes.
template <auto Member>
class timer_of final : public timer {
 public:
  using owner_type = typename detail::member_owner<decltype(Member)>::type;
  timer_of(loop& where, owner_type& owner) noexcept : timer(where), owner_(owner) {}
  ~timer_of() = default;

 private:
  void on_timer() override { (owner_.*Member)(); }
  owner_type& owner_;
};

namespace detail {
class callback_timer;
}

// A timer of loop::call_at/call_later. Dropping the handle leaves the timer armed. cancel() is idempotent, frees the callback
// at once, and does nothing after the timer has fired or the loop is gone. Movable, for the loop's thread.
class timer_handle {
 public:
  timer_handle() noexcept = default;
  timer_handle(timer_handle&& other) noexcept { take(other); }
  timer_handle& operator=(timer_handle&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~timer_handle() { release(); }

  void cancel() noexcept;
  bool armed() const noexcept { return timer_ != nullptr; }

 private:
  friend class loop;
  friend class detail::callback_timer;
  explicit timer_handle(detail::callback_timer& of) noexcept;
  void take(timer_handle& other) noexcept;
  void release() noexcept;

  detail::callback_timer* timer_ = nullptr;  // knows this handle; emptied by the timer when it fires
};

}  // namespace looptask
