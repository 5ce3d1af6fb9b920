#pragma once
// The three faces of time, as types that cannot be mixed up.
//
//   monotonic_time  CLOCK_MONOTONIC, nanoseconds: the loop, its timers, timeouts inside the process.
//   instant         UTC, microseconds: everything a schedule or the ledger says. Wide enough for the year 9999.
//   elapsed         an `instant` on the elapsed timeline: it starts out equal to the wall clock, goes on during suspend, and no
//                   step of the wall clock moves it. `every` lives on it (docs/semantics.md, clocks).
//
// No type here has a now(): time comes only through looptask::clock_port. Thread-safe: plain values.
#include <chrono>
#include <cstdint>

namespace looptask {

using microseconds = std::chrono::microseconds;

// A clock in name only, so that its time points are a type of their own.
struct monotonic_clock {
  using rep = std::chrono::nanoseconds::rep;
  using period = std::chrono::nanoseconds::period;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<monotonic_clock>;
  static constexpr bool is_steady = true;
};

using duration = std::chrono::nanoseconds;
using monotonic_time = monotonic_clock::time_point;
using instant = std::chrono::sys_time<microseconds>;

}  // namespace looptask
