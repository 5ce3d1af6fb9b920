#include "schedule/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace looptask::schedule {
namespace {

constexpr std::int64_t longest = microseconds::max().count();

std::int64_t times(std::int64_t value, std::int64_t factor) noexcept {
  std::int64_t product = 0;
  return __builtin_mul_overflow(value, factor, &product) ? longest : product;
}

}  // namespace

microseconds retry_delay(const retry_policy& policy, std::uint32_t n, double draw) noexcept {
  const std::int64_t cap = policy.max_delay.count();
  std::int64_t delay = std::min(policy.delay.count(), cap);
  switch (policy.backoff) {
    case backoff_kind::fixed:
      break;
    case backoff_kind::linear:
      delay = std::min(times(policy.delay.count(), n), cap);
      break;
    case backoff_kind::exponential:
      // Ends at the cap after at most 63 steps, unless it does not grow at all.
      if (policy.factor >= 2 && delay > 0) {
        for (std::uint32_t i = 1; i < n && delay < cap; ++i) delay = std::min(times(delay, policy.factor), cap);
      }
      break;
  }
  if (policy.jitter <= 0 || delay == longest) return microseconds(delay);
  const double spread = std::floor(static_cast<double>(delay) * policy.jitter * draw);
  if (spread >= static_cast<double>(longest - delay)) return microseconds::max();
  return microseconds(delay + static_cast<std::int64_t>(spread));
}

}  // namespace looptask::schedule
