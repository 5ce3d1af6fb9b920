#pragma once
// The slots of a trigger that do not depend on runs: grid, cron, at. Pure arithmetic on the trigger's own timeline.
#include <cstdint>
#include <optional>

#include <looptask/time.hpp>

#include "schedule/definition.hpp"
#include "schedule/state.hpp"

namespace looptask::schedule {

// True for grid, cron and at: slots follow from the trigger alone. False for end, start and @reboot, and without a trigger.
bool has_series(const trigger& what) noexcept;

// What a cron expression is as the trigger of a job. "@every" is no matter of the wall clock: it is a grid whose first slot
// lies one interval after the creation. A cron_trigger of a job holds no "@every".
trigger trigger_of(cron_expression expression, zone where);

// "@reboot": one slot for each start of the service.
bool at_each_start(const trigger& what) noexcept;

// The smallest slot strictly later than `after`; nullopt: none any more, or no series.
std::optional<instant> next_slot(const trigger& what, instant anchor, instant after);

struct slot_range {
  std::uint64_t count = 0;
  instant first{}, last{};  // valid if count > 0
  instant before_last{};    // valid if count > 1: the slot before `last`
};

// The slots in (after, upto], counted by arithmetic: millions cost no more than one.
slot_range slots_between(const trigger& what, instant anchor, instant after, instant upto);

// Due time of the next run of an `end` or `start` job; nullopt while one of the schedule is active, or for other triggers.
std::optional<instant> interval_due(const trigger& what, const job_state& state);

}  // namespace looptask::schedule
