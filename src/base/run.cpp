#include <looptask/run.hpp>

#include <array>
#include <cstddef>

namespace looptask {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kinds{"schedule", "manual", "chained"};
constexpr std::array<std::string_view, 6> outcomes{"ran", "skipped", "missed", "coalesced", "suppressed", "superseded"};
constexpr std::array<std::string_view, 8> results{"success", "failed",      "timeout", "cancelled",
                                                  "killed",  "interrupted", "lost",    "start_failed"};
constexpr std::array<std::string_view, 12> causes{"none",      "overlap", "limit",   "down",     "stalled", "clock-step",
                                                  "coalesced", "paused",  "removed", "shutdown", "dst-gap", "leftover"};
static_assert(kinds.size() == static_cast<std::size_t>(run_kind::chained) + 1);
static_assert(outcomes.size() == static_cast<std::size_t>(slot_outcome::superseded) + 1);
static_assert(results.size() == static_cast<std::size_t>(run_result::start_failed) + 1);
static_assert(causes.size() == static_cast<std::size_t>(cause::leftover) + 1);

template <class Enum, std::size_t N>
bool find(const std::array<std::string_view, N>& names, std::string_view text, Enum& out) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] != text) continue;
    out = static_cast<Enum>(i);
    return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(run_kind v) noexcept { return kinds[static_cast<std::size_t>(v)]; }
std::string_view to_string(slot_outcome v) noexcept { return outcomes[static_cast<std::size_t>(v)]; }
std::string_view to_string(run_result v) noexcept { return results[static_cast<std::size_t>(v)]; }
std::string_view to_string(cause v) noexcept { return causes[static_cast<std::size_t>(v)]; }
bool from_string(std::string_view text, run_kind& out) noexcept { return find(kinds, text, out); }
bool from_string(std::string_view text, slot_outcome& out) noexcept { return find(outcomes, text, out); }
bool from_string(std::string_view text, run_result& out) noexcept { return find(results, text, out); }
bool from_string(std::string_view text, cause& out) noexcept { return find(causes, text, out); }

}  // namespace looptask
