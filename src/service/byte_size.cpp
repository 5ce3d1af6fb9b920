#include "service/byte_size.hpp"

#include <array>

#include "base/printable.hpp"

namespace looptask::service {
namespace {

struct unit {
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::int64_t kib = 1024;
// Largest first, so that printing takes the largest unit that divides.
constexpr std::array<unit, 9> units{{{"TiB", kib* kib* kib* kib},
                                     {"TB", 1'000'000'000'000},
                                     {"GiB", kib* kib* kib},
                                     {"GB", 1'000'000'000},
                                     {"MiB", kib* kib},
                                     {"MB", 1'000'000},
                                     {"KiB", kib},
                                     {"KB", 1'000},
                                     {"B", 1}}};
constexpr std::int64_t largest = kib * kib * kib * kib * kib;

error refuse(std::string_view text, std::string_view why) {
  return error{in_quotes(text) + " is no size: " + std::string(why) + "; write for example \"256KiB\" or \"10MB\""};
}

}  // namespace

result<std::int64_t> parse_size(std::string_view text) {
  std::int64_t number = 0;
  std::size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    number = number * 10 + (text[i] - '0');
    if (number > largest) return refuse(text, "it is larger than 1024TiB");
  }
  if (i == 0) return refuse(text, "it must begin with a whole number");
  const std::string_view name = text.substr(i);
  if (name.empty()) return refuse(text, "the number needs a unit");
  for (const auto& [unit_name, bytes] : units) {
    if (name != unit_name) continue;
    if (number > largest / bytes) return refuse(text, "it is larger than 1024TiB");
    return number * bytes;
  }
  return refuse(text, "the units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB, not " + in_quotes(name));
}

std::string print_size(std::int64_t bytes) {
  LOOPTASK_ASSERT(bytes >= 0, "print_size: negative");
  for (const auto& [name, size] : units)
    if (bytes >= size && bytes % size == 0) return std::to_string(bytes / size) + std::string(name);
  return "0B";
}

}  // namespace looptask::service
