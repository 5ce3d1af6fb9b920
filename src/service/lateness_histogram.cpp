#include "service/lateness_histogram.hpp"

#include <looptask/assert.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace looptask::service {
namespace {

// Each power of two above 256 is cut into 128 steps.
std::int64_t end_of_step(std::int64_t value) {
  const auto bits = std::bit_width(static_cast<std::uint64_t>(value));
  if (bits <= 8) return value;
  const std::int64_t step = std::int64_t{1} << (bits - 8);
  return value | (step - 1);
}

}  // namespace

void lateness_histogram::add(microseconds value) {
  ++counts_[end_of_step(std::max<std::int64_t>(value.count(), 0))];
  ++count_;
}

void lateness_histogram::add(const lateness_histogram& other) {
  for (const auto& [value, n] : other.counts_) counts_[value] += n;
  count_ += other.count_;
}

std::optional<microseconds> lateness_histogram::quantile(double part) const {
  LOOPTASK_ASSERT(part > 0 && part <= 1, "a quantile is asked for a part between 0 and 1");
  const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (const auto& [value, n] : counts_) {
    seen += n;
    if (seen >= wanted) return microseconds(value);
  }
  return std::nullopt;
}

}  // namespace looptask::service
