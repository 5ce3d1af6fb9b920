#include <looptask/rate_limiter.hpp>

#include <algorithm>
#include <numeric>

#include <looptask/loop.hpp>

namespace looptask {

namespace detail {
namespace {

__extension__ using wide = unsigned __int128;  // a full bucket in parts may need more than 64 bits

constexpr std::uint64_t longer_than_all_times = std::uint64_t{1} << 63U;

std::uint64_t nanoseconds_between(monotonic_time from, monotonic_time until) noexcept {
  return static_cast<std::uint64_t>((until - from).count());
}

}  // namespace

token_bucket::token_bucket(std::size_t count, duration per, std::size_t burst, monotonic_time now) noexcept
    : gain_(count), whole_(static_cast<std::uint64_t>(per.count())), burst_(burst), tokens_(burst), filled_(now) {
  LOOPTASK_ASSERT(count > 0 && burst > 0 && per > duration::zero(), "rate_limiter that lets nothing pass");
  const std::uint64_t common = std::gcd(gain_, whole_);
  gain_ /= common;
  whole_ /= common;
}

// Full it loses what comes, except within the nanosecond in which it became full: who waits for that takes it at a fraction of
// a nanosecond and is only told at the next whole one, and such remainders would add up.
void token_bucket::fill(monotonic_time now) noexcept {
  const wide full = wide{burst_} * whole_;
  wide level = wide{tokens_} * whole_ + parts_ + wide{nanoseconds_between(filled_, now)} * gain_;
  if (level >= full && level - full >= std::min(gain_, whole_)) level = full;
  tokens_ = static_cast<std::size_t>(level / whole_);
  parts_ = static_cast<std::uint64_t>(level % whole_);
  filled_ = now;
}

// Nanoseconds after filled_, rounded up: never early.
std::uint64_t token_bucket::time_to(std::size_t tokens) const noexcept {
  if (tokens_ >= tokens) return 0;
  const wide missing = wide{tokens - tokens_} * whole_ - parts_;
  return static_cast<std::uint64_t>(std::min<wide>((missing + gain_ - 1) / gain_, longer_than_all_times));
}

monotonic_time token_bucket::holds_at(std::size_t tokens) const noexcept {
  const std::uint64_t wait = time_to(tokens);
  if (wait > nanoseconds_between(filled_, monotonic_time::max())) return monotonic_time::max();
  return filled_ + duration(static_cast<duration::rep>(wait));
}

}  // namespace detail

rate_limiter::rate_limiter(loop& where, std::size_t count, duration per, std::size_t burst) noexcept
    : loop_(where), bucket_(count, per, burst, where.after(duration::zero())), due_(where, *this) {}

bool rate_limiter::may_take(std::size_t tokens) noexcept {
  if (!waiters_.empty()) return false;
  bucket_.fill(loop_.after(duration::zero()));
  return bucket_.tokens() >= tokens;
}

void rate_limiter::serve() noexcept {
  bucket_.fill(loop_.after(duration::zero()));
  while (auto* const first = static_cast<acquire_await*>(waiters_.front())) {
    if (bucket_.tokens() < first->tokens_) return due_.arm(bucket_.holds_at(first->tokens_));
    take(first->tokens_);
    waiters_.wake(*first);
  }
  due_.cancel();
}

bool rate_limiter::try_acquire(std::size_t tokens) noexcept {
  assert_possible(tokens);
  if (!may_take(tokens)) return false;
  take(tokens);
  return true;
}

rate_limiter_statistics rate_limiter::statistics() const noexcept {
  detail::token_bucket now = bucket_;
  now.fill(loop_.after(duration::zero()));
  return {waiters_.statistics(), now.tokens(), acquired_};
}

bool rate_limiter::acquire_await::await_ready() noexcept {
  if (strikes_now()) return true;
  LOOPTASK_ASSERT(&where() == &of_.loop_, "rate_limiter of another loop");
  if (!of_.may_take(tokens_) || !spend()) return false;
  of_.take(tokens_);
  return true;
}

void rate_limiter::acquire_await::start() {
  if (of_.may_take(tokens_)) {  // the turn's budget was spent
    of_.take(tokens_);
    return complete();
  }
  enter();
  if (of_.waiters_.front() == this) of_.serve();
}

bool rate_limiter::acquire_await::withdraw() noexcept {
  const bool was_first = of_.waiters_.front() == this;
  leave();
  if (was_first) of_.serve();  // the next one may want less
  return true;
}

}  // namespace looptask
