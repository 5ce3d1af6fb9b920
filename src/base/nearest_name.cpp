#include "base/nearest_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace looptask {
namespace {

constexpr std::size_t longest = 64;

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Optimal string alignment distance; three rows are enough.
std::size_t distance(std::string_view a, std::string_view b) noexcept {
  using row = std::array<std::size_t, longest + 1>;
  row before{}, last{}, now{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view typed, std::span<const std::string_view> known) {
  std::optional<std::string_view> best;
  std::size_t best_distance = longest + 1;
  if (typed.size() > longest) return best;
  for (const std::string_view name : known) {
    if (name.size() > longest) continue;
    const std::size_t d = distance(typed, name);
    if (d >= best_distance || d > std::max<std::size_t>(1, name.size() / 3)) continue;
    best = name;
    best_distance = d;
  }
  return best;
}

}  // namespace looptask
