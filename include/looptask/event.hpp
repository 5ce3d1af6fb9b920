#pragma once
// A flag that tasks can wait for.
//
// Owner: the loop's thread. set() lets all go on that wait now, in the order they came, also if it is cleared again before
// they run. wait() is a cancel point and does not wait while the flag is set. Nothing is allocated. The event outlives its
// waiters (asserted).
//
//   looptask::event connected;
//   co_await connected.wait();
//   connected.set();             // elsewhere
#include <cstddef>

#include <looptask/wait_queue.hpp>

namespace looptask {

struct event_statistics : wait_statistics {
  bool set = false;
};

class event {
 public:
  class wait_await;

  event() noexcept = default;
  ~event() { LOOPTASK_ASSERT(waiters_.empty(), "event destroyed while tasks wait for it"); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  void set() noexcept;  // idempotent
  void clear() noexcept { set_ = false; }
  bool is_set() const noexcept { return set_; }
  wait_await wait() noexcept;  // co_await
  event_statistics statistics() const noexcept { return {waiters_.statistics(), set_}; }

 private:
  bool set_ = false;
  wait_queue waiters_;
};

class event::wait_await final : public waits_in<event, &event::waiters_> {
 public:
  explicit wait_await(event& of) noexcept : waits_in(of) {}
  ~wait_await() = default;
  bool await_ready() noexcept { return strikes_now() || (of_.set_ && spend()); }
  void await_resume() { finish(); }

 private:
  void start() override;
};

inline event::wait_await event::wait() noexcept { return wait_await(*this); }

}  // namespace looptask
