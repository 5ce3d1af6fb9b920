#pragma once
// How late runs were, over any number of them, in a few hundred bytes: counts by lateness, exact below 256 us and within 1/128
// of the value above. Negative lateness counts as 0. Plain value; one thread at a time.
//
//   lateness_histogram late;
//   late.add(1500us);
//   late.quantile(0.99)  // the smallest value that at least 99 of 100 did not exceed
#include <cstdint>
#include <map>
#include <optional>

#include <looptask/time.hpp>

namespace looptask::service {

class lateness_histogram {
 public:
  void add(microseconds value);
  void add(const lateness_histogram& other);
  std::uint64_t count() const noexcept { return count_; }
  // nullopt without values. `part` in (0, 1]; never below the true value and at most 1/128 above it.
  std::optional<microseconds> quantile(double part) const;

 private:
  std::map<std::int64_t, std::uint64_t> counts_;  // by the largest value that falls into the same step
  std::uint64_t count_ = 0;
};

}  // namespace looptask::service
