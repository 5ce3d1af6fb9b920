#pragma once
// The words of the ledger: what happened to a slot, how a run ended, and who it was. Plain values, thread-safe.
//
// A *slot* is one nominal time of a job. Every slot gets exactly one `slot_outcome`. A *run* is one slot that ran, with all
// its attempts; it ends with one `run_result`. A run that is not over has no result.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <looptask/time.hpp>

namespace looptask {

enum class run_kind : std::uint8_t { schedule, manual, chained };

enum class slot_outcome : std::uint8_t { ran, skipped, missed, coalesced, suppressed, superseded };

enum class run_result : std::uint8_t { success, failed, timeout, cancelled, killed, interrupted, lost, start_failed };

// Why a slot did not run, or why a run ended as it did: one word for machines. `detail` texts carry the values compared.
enum class cause : std::uint8_t {
  none,
  overlap,     // an earlier run, or an older waiting slot, held the place
  limit,       // an earlier slot still waited for room under service.max_running
  down,        // the service was not running
  stalled,     // the loop stood still
  clock_step,  // the wall clock was moved over the slot
  coalesced,   // another run stands for it
  paused,
  removed,   // the job was removed, or its definition replaced
  shutdown,  // ended by a stop of the service
  dst_gap,
  leftover  // the main process ended well, but others of its session had to be killed
};

// The names used by command line, JSON and database: the enumerator itself, '-' for '_'.
std::string_view to_string(run_kind) noexcept;
std::string_view to_string(slot_outcome) noexcept;
std::string_view to_string(run_result) noexcept;
std::string_view to_string(cause) noexcept;
bool from_string(std::string_view, run_kind&) noexcept;
bool from_string(std::string_view, slot_outcome&) noexcept;
bool from_string(std::string_view, run_result&) noexcept;
bool from_string(std::string_view, cause&) noexcept;

// Unique in the ledger, together with the attempt number for starts.
struct run_key {
  std::string job;
  run_kind kind = run_kind::schedule;
  instant nominal{};        // on the timeline of the job's trigger: wall clock, or elapsed time for intervals
  std::uint32_t epoch = 0;  // raised by a correction of the wall clock (docs/semantics.md, clocks)

  auto operator<=>(const run_key&) const = default;
};

}  // namespace looptask
