#pragma once
// How long a run waits before its next attempt. Pure.
#include <cstdint>

#include <looptask/time.hpp>

#include "schedule/definition.hpp"

namespace looptask::schedule {

// Before retry n (1, 2, ...). `draw` in [0, 1). Saturates instead of overflowing.
microseconds retry_delay(const retry_policy& policy, std::uint32_t n, double draw) noexcept;

}  // namespace looptask::schedule
