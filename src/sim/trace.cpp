#include "sim/trace.hpp"

namespace looptask::sim {
namespace {

constexpr std::uint64_t fnv_prime = 0x100000001b3U;

std::string seconds(duration at) {
  const auto count = at.count();
  std::string fraction = std::to_string(count % 1'000'000'000);
  return std::to_string(count / 1'000'000'000) + '.' + std::string(9 - fraction.size(), '0') + fraction;
}

}  // namespace

void trace::record(duration at, std::string_view what, std::int64_t number, std::string_view text) {
  mix(at.count());
  mix(what);
  mix(number);
  mix(text);
  if (!keep_) return;
  std::string line = seconds(at);
  line.append(" ").append(what).append(" ").append(std::to_string(number));
  if (!text.empty()) line.append(" ").append(text);
  lines_.push_back(std::move(line));
}

void trace::mix(std::string_view bytes) noexcept {
  for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * fnv_prime;
  hash_ = (hash_ ^ 0xffU) * fnv_prime;  // so that "ab","c" and "a","bc" differ
}

void trace::mix(std::int64_t number) noexcept { hash_ = (hash_ ^ static_cast<std::uint64_t>(number)) * fnv_prime; }

}  // namespace looptask::sim
