#pragma once
// How late runs were, over any number of them, in a few hundred bytes: counts by lateness in steps of 1/128, with the largest
// value of each step. Negative lateness counts as 0. Plain value; one thread at a time.
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
  // nullopt without values. `part` in (0, 1]; one of the values, never below the true one and at most 1/128 above it.
  std::optional<microseconds> quantile(double part) const;

 private:
  struct step {
    std::uint64_t count = 0;
    std::int64_t largest = 0;
    void add(std::uint64_t n, std::int64_t value);
  };
  std::map<std::int64_t, step> steps_;  // by the largest value that would fall into it
  std::uint64_t count_ = 0;
};

}  // namespace looptask::service
