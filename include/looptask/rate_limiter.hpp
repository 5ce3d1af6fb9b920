#pragma once
// So many in so much time, and at most so many at once: a token bucket.
//
// Owner: the loop's thread. The bucket holds `burst` tokens, is full at first, and gets `count` tokens evenly over each
// `per`: in any time t no more than burst + count * t / per are taken. Tokens are counted in exact fractions and on the clock
// itself, so that nothing is rounded away over time and nobody is early, not by a nanosecond. First come, first served: who
// wants many is not overtaken by who wants few. acquire() is a cancel point; who is cancelled while waiting has taken nothing.
// What a loop is late in handing out it makes up for as long as the bucket does not overflow meanwhile: with a burst of 1 two
// are never closer than per / count, so each delay is lost; with 2 it is not. Nothing is allocated. The limiter belongs to its
// loop and outlives its waiters (asserted).
//
//   looptask::rate_limiter api(loop, 100, 1min, 10);    // 100 a minute, the first ten at once
//   co_await api.acquire();
//   co_await ask(api_server);
#include <cstddef>
#include <cstdint>

#include <looptask/time.hpp>
#include <looptask/timer.hpp>
#include <looptask/wait_queue.hpp>

namespace looptask {

struct rate_limiter_statistics : wait_statistics {
  std::size_t available = 0;   // whole tokens in the bucket now
  std::uint64_t acquired = 0;  // tokens taken so far
};

namespace detail {

// Tokens as a function of time, in exact arithmetic. A plain value.
class token_bucket {
 public:
  token_bucket(std::size_t count, duration per, std::size_t burst, monotonic_time now) noexcept;
  void fill(monotonic_time now) noexcept;  // which does not go back
  void take(std::size_t tokens) noexcept { tokens_ -= tokens; }
  std::size_t tokens() const noexcept { return tokens_; }  // whole ones, when it was filled last
  std::size_t burst() const noexcept { return burst_; }
  // The first nanosecond at which it holds so many, if none is taken until then; the end of time if that is later.
  monotonic_time holds_at(std::size_t tokens) const noexcept;

 private:
  std::uint64_t time_to(std::size_t tokens) const noexcept;

  // Each nanosecond brings gain_ parts of a token; whole_ of them make one.
  std::uint64_t gain_;
  std::uint64_t whole_;
  std::size_t burst_;
  // At filled_ it holds tokens_ and parts_ / whole_ of one more.
  std::size_t tokens_;
  std::uint64_t parts_ = 0;
  monotonic_time filled_;
};

}  // namespace detail

class rate_limiter {
 public:
  class acquire_await;

  // A count or burst of 0 and a duration of zero or less are misuse.
  rate_limiter(loop& where, std::size_t count, duration per, std::size_t burst) noexcept;
  ~rate_limiter() { LOOPTASK_ASSERT(waiters_.empty(), "rate_limiter destroyed while tasks wait for it"); }
  rate_limiter(const rate_limiter&) = delete;
  rate_limiter& operator=(const rate_limiter&) = delete;

  acquire_await acquire(std::size_t tokens = 1) noexcept;  // co_await. None, or more than `burst`, is misuse
  bool try_acquire(std::size_t tokens = 1) noexcept;       // false, and none is taken, if it would have to wait
  rate_limiter_statistics statistics() const noexcept;

 private:
  bool may_take(std::size_t tokens) noexcept;
  void take(std::size_t tokens) noexcept {
    bucket_.take(tokens);
    acquired_ += tokens;
  }
  void serve() noexcept;
  void assert_possible(std::size_t tokens) const noexcept {
    LOOPTASK_ASSERT(tokens > 0 && tokens <= bucket_.burst(), "rate_limiter asked for no token, or for more than its burst");
  }

  loop& loop_;
  detail::token_bucket bucket_;
  std::uint64_t acquired_ = 0;
  wait_queue waiters_;
  timer_of<&rate_limiter::serve> due_;  // armed while somebody waits: when the bucket holds what the first one wants
};

class rate_limiter::acquire_await final : public waits_in<rate_limiter, &rate_limiter::waiters_> {
 public:
  acquire_await(rate_limiter& of, std::size_t tokens) noexcept : waits_in(of), tokens_(tokens) {}
  ~acquire_await() {
    if (in_line()) withdraw();
  }
  bool await_ready() noexcept;
  void await_resume() { finish(); }

 private:
  friend class rate_limiter;
  void start() override;
  bool withdraw() noexcept override;
  const std::size_t tokens_;
};

inline rate_limiter::acquire_await rate_limiter::acquire(std::size_t tokens) noexcept {
  assert_possible(tokens);
  return acquire_await(*this, tokens);
}

}  // namespace looptask
