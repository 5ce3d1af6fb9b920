#include "schedule/series.hpp"

#include <algorithm>
#include <utility>

#include <looptask/assert.hpp>

namespace looptask::schedule {
namespace {

using ticks = std::int64_t;

// Slots at origin + k * interval, k >= 0. All instants of a schedule lie within some ten thousand years, so that their
// differences fit; `after` may be instant::min().
std::optional<instant> next_on_grid(instant origin, microseconds interval, instant after) {
  if (after < origin) return origin;
  const ticks k = (after - origin) / interval + 1;
  return origin + interval * k;
}

slot_range between_on_grid(instant origin, microseconds interval, instant after, instant upto) {
  const std::optional<instant> first = next_on_grid(origin, interval, after);
  if (!first || *first > upto) return {};
  const ticks steps = (upto - *first) / interval;
  const instant last = *first + interval * steps;
  return {.count = static_cast<std::uint64_t>(steps) + 1, .first = *first, .last = last, .before_last = last - interval};
}

const every_trigger* interval_of(const trigger& what) noexcept {
  const auto* const every = std::get_if<every_trigger>(&what);
  return every != nullptr && every->from != interval_from::grid ? every : nullptr;
}

}  // namespace

bool on_wall_clock(const trigger& what) noexcept {
  return std::holds_alternative<cron_trigger>(what) || std::holds_alternative<at_trigger>(what);
}

trigger trigger_of(cron_expression expression, zone where) {
  if (const std::optional<microseconds> interval = expression.every()) {
    return every_trigger{*interval, interval_from::grid, *interval};
  }
  return cron_trigger{std::move(expression), std::move(where)};
}

bool has_series(const trigger& what) noexcept {
  return !std::holds_alternative<std::monostate>(what) && interval_of(what) == nullptr && !at_each_start(what);
}

bool at_each_start(const trigger& what) noexcept {
  const auto* const cron = std::get_if<cron_trigger>(&what);
  return cron != nullptr && cron->expression.is_reboot();
}

std::optional<instant> next_slot(const trigger& what, instant anchor, instant after) {
  if (const auto* const every = std::get_if<every_trigger>(&what); every != nullptr && every->from == interval_from::grid) {
    return next_on_grid(anchor, every->interval, after);
  }
  if (const auto* const cron = std::get_if<cron_trigger>(&what)) return cron->expression.next(after, cron->where);
  if (const auto* const at = std::get_if<at_trigger>(&what); at != nullptr && at->when > after) return at->when;
  return std::nullopt;
}

slot_range slots_between(const trigger& what, instant anchor, instant after, instant upto) {
  if (after >= upto) return {};
  if (const auto* const every = std::get_if<every_trigger>(&what); every != nullptr && every->from == interval_from::grid) {
    return between_on_grid(anchor, every->interval, after, upto);
  }
  if (const auto* const cron = std::get_if<cron_trigger>(&what)) {
    const cron_expression::fire_span span = cron->expression.fires_between(after, upto, cron->where);
    return {.count = span.count, .first = span.first, .last = span.last, .before_last = span.before_last};
  }
  const std::optional<instant> only = next_slot(what, anchor, after);
  return only && *only <= upto ? slot_range{.count = 1, .first = *only, .last = *only, .before_last = {}} : slot_range{};
}

std::optional<instant> interval_due(const trigger& what, const job_state& state) {
  const every_trigger* const every = interval_of(what);
  if (every == nullptr) return std::nullopt;
  for (const active_run& run : state.active) {
    if (run.what.id.kind == run_kind::schedule) return std::nullopt;
  }
  const std::optional<instant>& last = every->from == interval_from::end ? state.last_end : state.last_start;
  instant due = last ? std::max(state.anchor, *last + every->interval) : state.anchor;
  // Slots are strictly increasing, whatever the clocks of an earlier life said.
  return std::max(due, state.watermark + microseconds(1));
}

}  // namespace looptask::schedule
