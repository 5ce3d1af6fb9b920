#include "schedule/wording.hpp"

#include <cstdint>

#include "schedule/instant_text.hpp"

namespace looptask::schedule {
namespace {

// `value` in thousandths of `unit`, without trailing zeros.
std::string thousandths(std::uint64_t value, const char* unit) {
  std::string text = std::to_string(value / 1000);
  std::uint64_t rest = value % 1000;
  if (rest != 0) {
    std::string digits = std::to_string(1000 + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text + unit;
}

}  // namespace

std::string to_text(instant when) { return instant_text(when, fraction::milliseconds); }

std::string to_text(microseconds how_long) {
  const std::int64_t signed_count = how_long.count();
  const std::string sign = signed_count < 0 ? "-" : "";
  const std::uint64_t us =
      signed_count < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(signed_count) : static_cast<std::uint64_t>(signed_count);
  if (us < 1000 && us != 0) return sign + std::to_string(us) + "us";
  if (us < 1'000'000) return sign + thousandths(us, "ms");
  const std::uint64_t ms = us / 1000;
  std::string text = sign;
  const std::uint64_t hours = ms / 3'600'000;
  const std::uint64_t minutes = ms / 60'000 % 60;
  if (hours > 0) text += std::to_string(hours) + "h";
  if (hours > 0 || minutes > 0) text += std::to_string(minutes) + "m";
  return text + thousandths(ms % 60'000, "s");
}

}  // namespace looptask::schedule
