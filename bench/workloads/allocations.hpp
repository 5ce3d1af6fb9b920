#pragma once
// How often this thread has called operator new. Linked into each program of this folder; `--count` prints the calls for each
// operation (field allocations).
#include <cstdint>

#include "workload.hpp"

namespace looptask::bench {

std::int64_t allocations() noexcept;

class allocation_count {
 public:
  void put_in(line& where, const options& how, std::int64_t operations) const {
    if (how.count()) where.put("allocations", static_cast<double>(taken()) / static_cast<double>(operations));
  }
  std::int64_t taken() const noexcept { return allocations() - before_; }

 private:
  std::int64_t before_ = allocations();
};

}  // namespace looptask::bench
