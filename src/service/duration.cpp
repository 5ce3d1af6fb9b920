#include "service/duration.hpp"

#include <array>
#include <cstdint>

#include "base/printable.hpp"

namespace looptask::service {
namespace {

struct unit {
  std::string_view name;
  std::int64_t us;
};

constexpr std::array<unit, 7> units{{{"w", 604'800'000'000},
                                     {"d", 86'400'000'000},
                                     {"h", 3'600'000'000},
                                     {"m", 60'000'000},
                                     {"s", 1'000'000},
                                     {"ms", 1'000},
                                     {"us", 1}}};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

error refuse(std::string_view text, std::string_view why) {
  return error{in_quotes(text) + " is no duration: " + std::string(why) +
               "; write for example \"90s\", \"1h30m\" or \"250ms\""};
}

}  // namespace

result<microseconds> parse_duration(std::string_view text) {
  if (text.empty()) return refuse(text, "it is empty");
  std::int64_t sum = 0;
  std::size_t next_unit = 0;  // units before it are used up
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) return refuse(text, "a whole number must stand before each unit");
    std::int64_t number = 0;
    for (; i < text.size() && is_digit(text[i]); ++i) {
      number = number * 10 + (text[i] - '0');
      if (number > longest_duration.count()) return refuse(text, "it is longer than 36500d");
    }
    const std::size_t begin = i;
    while (i < text.size() && is_letter(text[i])) ++i;
    const std::string_view name = text.substr(begin, i - begin);
    if (name.empty())
      return refuse(text, i < text.size() ? "only whole numbers and units may stand in it" : "a number needs a unit");
    std::size_t found = 0;
    while (found < units.size() && units[found].name != name) ++found;
    if (found == units.size()) return refuse(text, "the units are w, d, h, m, s, ms and us, not " + in_quotes(name));
    if (found < next_unit) return refuse(text, "units stand once each, the largest first");
    next_unit = found + 1;
    if (number > (longest_duration.count() - sum) / units[found].us) return refuse(text, "it is longer than 36500d");
    sum += number * units[found].us;
  }
  return microseconds(sum);
}

std::string print_duration(microseconds value) {
  std::int64_t rest = value.count();
  LOOPTASK_ASSERT(rest >= 0, "print_duration: negative");
  std::string text;
  for (const auto& [name, us] : units) {
    if (rest < us) continue;
    text += std::to_string(rest / us);
    text += name;
    rest %= us;
  }
  return text.empty() ? "0s" : text;
}

}  // namespace looptask::service
