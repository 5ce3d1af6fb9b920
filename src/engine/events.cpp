#include "engine/events.hpp"

#include <array>
#include <cstddef>

namespace looptask::engine {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 23> names{
    "job_added",       "job_changed",     "job_rejudged",      "job_removed",     "job_paused",     "job_resumed",
    "slot_waiting",    "attempt_started", "attempt_stopping",  "attempt_ended",   "retry_planned",  "run_ended",
    "slot_not_run",    "clock_step",      "clock_implausible", "clock_plausible", "loop_stalled",   "leftovers_killed",
    "leftovers_alive", "ledger_trouble",  "ledger_healed",     "record_refused",  "body_misbehaved"};
static_assert(names.size() == static_cast<std::size_t>(event_kind::body_misbehaved) + 1);

}  // namespace

std::string_view to_string(event_kind what) noexcept { return names[static_cast<std::size_t>(what)]; }

}  // namespace looptask::engine
