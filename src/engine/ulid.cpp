#include "engine/ulid.hpp"

namespace looptask::engine {
namespace {

constexpr char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// `characters` of five bits each, the most significant first.
void append(std::string& text, std::uint64_t bits, int characters) {
  for (int i = characters - 1; i >= 0; --i) text += alphabet[(bits >> (5 * i)) & 31U];
}

}  // namespace

std::string make_ulid(instant wall, std::uint64_t random_high, std::uint64_t random_low) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(wall.time_since_epoch()).count();
  std::string text;
  text.reserve(26);
  append(text, static_cast<std::uint64_t>(ms) & 0xffffffffffffU, 10);
  append(text, random_high, 8);
  append(text, random_low, 8);
  return text;
}

}  // namespace looptask::engine
