#include "engine/clocks.hpp"

#include <algorithm>

namespace looptask::engine {
namespace {

// Below this a difference between two readings is the reading itself, or slewing.
constexpr microseconds noise_when_told = std::chrono::microseconds(100);
constexpr microseconds noise = std::chrono::milliseconds(200);
// Whoever is held up between two readings reads again, so often at most.
constexpr int readings_at_most = 8;
// The loop's clock counts nanoseconds in 64 bits; a year-9999 slot is looked at again once a month.
constexpr microseconds farthest = std::chrono::hours(24 * 30);

instant since_boot(duration boot) { return instant(std::chrono::floor<microseconds>(boot)); }

}  // namespace

ledger::timeline clocks::begin(const std::optional<ledger::timeline>& kept, std::optional<instant> not_before) {
  const moment first = now();
  const instant boot = first.elapsed - offset_;
  const instant wall = first.wall;
  if (kept && kept->boot_id == from_.boot_id()) {
    offset_ = kept->offset;
  } else {
    offset_ = wall - boot;
    if (not_before) offset_ = std::max(offset_, *not_before - boot);
  }
  drift_ = wall - (boot + offset_);
  return {from_.boot_id(), offset_};
}

moment clocks::now() const {
  // In this order a deadline computed from the moment lies late by the time between the readings, never early. What happens
  // between them would look like a wall clock that was set: the closest of several readings counts.
  moment best{};
  microseconds least = microseconds::max();
  for (int reading = 0; reading < readings_at_most && least > noise_when_told; ++reading) {
    const instant before = since_boot(from_.boot());
    const instant wall = from_.wall();
    const monotonic_time monotonic = from_.monotonic();
    const microseconds apart = since_boot(from_.boot()) - before;
    if (apart >= least) continue;
    least = apart;
    best = {before + offset_, wall, monotonic};
  }
  return best;
}

std::optional<schedule::wall_step> clocks::step_since_last(const moment& now, bool told) {
  const microseconds drift = now.wall - now.elapsed;
  const microseconds moved = drift - drift_;
  drift_ = drift;
  if (std::chrono::abs(moved) < (told ? noise_when_told : noise)) return std::nullopt;
  return schedule::wall_step{now.wall - moved, now.wall};
}

instant clocks::elapsed_of(monotonic_time at, const moment& now) {
  if (at >= now.monotonic) return now.elapsed;
  return now.elapsed - std::chrono::floor<microseconds>(now.monotonic - at);
}

monotonic_time clocks::deadline_of(instant when, const moment& now) {
  const microseconds ahead = std::clamp(when - now.elapsed, microseconds(0), farthest);
  return now.monotonic + ahead;
}

}  // namespace looptask::engine
