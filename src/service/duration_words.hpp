#pragma once
// Durations as people read them in tables, three digits that matter, and as programs do, in seconds. Pure; any thread.
//
//   duration_words(1'234us) == "1.23ms"    duration_words(75s) == "1m15s"    duration_words(-2ms) == "-2.00ms"
#include <optional>
#include <string>

#include <looptask/time.hpp>

namespace looptask::service {

std::string duration_words(microseconds value);
std::string duration_words(const std::optional<microseconds>& value);  // "-" for none

constexpr double in_seconds(microseconds value) { return static_cast<double>(value.count()) / 1e6; }

}  // namespace looptask::service
