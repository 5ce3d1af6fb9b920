#pragma once
// "Did you mean": the known name nearest to what somebody typed. Pure; any thread; no allocation to speak of.
//
//   nearest_name("tiemout", {"timeout", "timezone"})  ->  "timeout"
#include <optional>
#include <span>
#include <string_view>

namespace looptask {

// Counts insertions, deletions, replacements and swaps of neighbours, letters compared without case. nullopt if every name is
// further away than a third of its length (at least one change is always allowed). Of equally near names the first. Texts of
// more than 64 characters are near nothing.
std::optional<std::string_view> nearest_name(std::string_view typed, std::span<const std::string_view> known);

}  // namespace looptask
