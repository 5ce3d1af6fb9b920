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

void lateness_histogram::step::add(std::uint64_t n, std::int64_t value) {
  count += n;
  largest = std::max(largest, value);
}

void lateness_histogram::add(microseconds value) {
  const std::int64_t late = std::max<std::int64_t>(value.count(), 0);
  steps_[end_of_step(late)].add(1, late);
  ++count_;
}

void lateness_histogram::add(const lateness_histogram& other) {
  for (const auto& [end, of] : other.steps_) steps_[end].add(of.count, of.largest);
  count_ += other.count_;
}

std::optional<microseconds> lateness_histogram::quantile(double part) const {
  LOOPTASK_ASSERT(part > 0 && part <= 1, "a quantile is asked for a part between 0 and 1");
  const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (const auto& [end, of] : steps_) {
    seen += of.count;
    if (seen >= wanted) return microseconds(of.largest);
  }
  return std::nullopt;
}

}  // namespace looptask::service
