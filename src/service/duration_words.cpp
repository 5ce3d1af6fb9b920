#include "service/duration_words.hpp"

#include <fmt/format.h>

namespace looptask::service {
namespace {

// Three digits of `us` in a unit of `per_unit` microseconds, cut, so that nothing is shown longer than it was.
std::string three_digits(std::int64_t us, std::int64_t per_unit, const char* unit) {
  const std::int64_t whole = us / per_unit;
  if (whole >= 100) return fmt::format("{}{}", whole, unit);
  if (whole >= 10) return fmt::format("{}.{}{}", whole, us % per_unit * 10 / per_unit, unit);
  return fmt::format("{}.{:02}{}", whole, us % per_unit * 100 / per_unit, unit);
}

}  // namespace

std::string duration_words(microseconds value) {
  const std::int64_t us = value.count();
  if (us < 0) return "-" + duration_words(microseconds(us == INT64_MIN ? INT64_MAX : -us));
  if (us < 1'000) return fmt::format("{}us", us);
  if (us < 1'000'000) return three_digits(us, 1'000, "ms");
  const std::int64_t s = us / 1'000'000;
  if (s < 60) return three_digits(us, 1'000'000, "s");
  if (s < 3'600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86'400) return fmt::format("{}h{:02}m", s / 3'600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86'400, s / 3'600 % 24);
}

std::string duration_words(const std::optional<microseconds>& value) { return value ? duration_words(*value) : "-"; }

}  // namespace looptask::service
