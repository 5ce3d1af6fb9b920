#include "cli/next_fires.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/series.hpp"
#include "service/duration.hpp"

namespace looptask::cli {
namespace {

using schedule::dst_note;

std::string clock_text(const schedule::civil& c) {
  return c.second == 0 ? fmt::format("{:02}:{:02}", c.hour, c.minute)
                       : fmt::format("{:02}:{:02}:{:02}", c.hour, c.minute, c.second);
}

std::string date_and_clock(const schedule::civil& c, const schedule::civil& beside) {
  const bool same_day = c.year == beside.year && c.month == beside.month && c.day == beside.day;
  return same_day ? clock_text(c) : fmt::format("{:04}-{:02}-{:02} {}", c.year, c.month, c.day, clock_text(c));
}

std::string note_text(dst_note what, instant at, const schedule::zone& zone, bool wildcard) {
  const auto second = std::chrono::floor<std::chrono::seconds>(at);
  const std::string wall = clock_text(zone.to_civil(second));
  switch (what) {
    case dst_note::none:
      return "";
    case dst_note::moved:
    case dst_note::merged: {
      // The change that brought this wall time is the one at this very second.
      const auto change = zone.next_transition(second - std::chrono::seconds(1));
      return fmt::format("clock goes from {} to {}: {} runs here", date_and_clock(change->before, change->after),
                         date_and_clock(change->after, change->before),
                         what == dst_note::moved ? "a missing time" : "a missing time as well, once for both,");
    }
    case dst_note::first_showing:
      return wildcard ? fmt::format("{} comes twice: first time", wall)
                      : fmt::format("{} comes twice: runs the first time only", wall);
    case dst_note::second_showing:
      return fmt::format("{} comes twice: second time", wall);
  }
  return "";
}

// What was decided already does not come again.
instant not_decided(const std::optional<job_past>& past, instant from) {
  return past ? std::max(from, past->state.watermark) : from;
}

void add_cron(coming& to, const schedule::cron_trigger& cron, const std::optional<job_past>& past, instant from,
              std::int64_t count) {
  const schedule::cron_expression& e = cron.expression;
  to.trigger = "cron " + e.to_string();
  to.warnings = schedule::warnings_of(e, cron.where, from);
  for (auto at = e.next(not_decided(past, from), cron.where); at && std::ssize(to.fires) < count;
       at = e.next(*at, cron.where)) {
    const dst_note note = e.note_of(*at, cron.where);
    to.fires.push_back({*at, note, note_text(note, *at, cron.where, e.is_wildcard())});
  }
  if (e.is_reboot()) {
    to.remark = "once when the service starts";
  } else if (std::ssize(to.fires) < count) {
    to.remark = to.fires.empty() ? "never fires again" : "no more after that";
  }
}

constexpr const char* as_if_started = "if the service starts then";

void add_grid(coming& to, const next_item& item, const schedule::every_trigger& every, instant from, std::int64_t count) {
  if (!item.past || !item.past->continues) to.remark = as_if_started;
  if (!item.past) {
    const instant first = from + every.initial_delay;
    for (std::int64_t k = 0; k < count; ++k) to.fires.push_back({first + every.interval * k, dst_note::none, ""});
    return;
  }
  const schedule::job_state& state = item.past->state;
  const microseconds ahead = item.past->wall_ahead;
  // A grid that begins at `from` has a slot there.
  const instant after = std::max(from - ahead - microseconds(item.past->continues ? 0 : 1), state.watermark);
  auto slot = schedule::next_slot(item.trigger, state.anchor, after);
  for (; slot && std::ssize(to.fires) < count; slot = schedule::next_slot(item.trigger, state.anchor, *slot))
    to.fires.push_back({*slot + ahead, dst_note::none, ""});
}

// A job whose slots follow from its runs.
void add_follower(coming& to, const next_item& item, const schedule::every_trigger& every, instant from, std::int64_t count) {
  const std::string interval = service::print_duration(every.interval);
  const std::string then = every.from == schedule::interval_from::end
                               ? fmt::format("{} after each run ended", interval)
                               : fmt::format("{} after each run started, or when it ends", interval);
  if (!item.past || !item.past->continues) {
    to.remark = fmt::format("{}; then {}", as_if_started, then);
    if (count > 0) to.fires.push_back({from + every.initial_delay, dst_note::none, ""});
    return;
  }
  const auto due = schedule::interval_due(item.trigger, item.past->state);
  if (!due) {
    to.remark = fmt::format("a run is going; {}", then);
    return;
  }
  const instant at = *due + item.past->wall_ahead;
  to.remark = at <= from ? fmt::format("overdue, as soon as the service runs; then {}", then) : fmt::format("then {}", then);
  if (count > 0) to.fires.push_back({std::max(at, from), dst_note::none, ""});
}

void add_every(coming& to, const next_item& item, const schedule::every_trigger& every, instant from, std::int64_t count) {
  const std::string interval = service::print_duration(every.interval);
  if (every.from == schedule::interval_from::grid) {
    to.trigger = fmt::format("every {} from grid", interval);
    return add_grid(to, item, every, from, count);
  }
  to.trigger = fmt::format("every {} from {}", interval, every.from == schedule::interval_from::end ? "end" : "start");
  add_follower(to, item, every, from, count);
}

void add_at(coming& to, const schedule::at_trigger& once, const std::optional<job_past>& past, instant from,
            std::int64_t count) {
  to.trigger = "at";
  if (past && once.when <= past->state.watermark) {
    to.remark = "its instant is decided: it ran, or was missed; see looptask runs --all";
  } else if (once.when <= from) {
    to.remark = "its instant has passed";
  } else if (count > 0) {
    to.fires.push_back({once.when, dst_note::none, ""});
  }
}

}  // namespace

coming coming_fires(const next_item& item, instant from, std::int64_t count) {
  coming found;
  if (const auto* cron = std::get_if<schedule::cron_trigger>(&item.trigger)) {
    add_cron(found, *cron, item.past, from, count);
  } else if (const auto* every = std::get_if<schedule::every_trigger>(&item.trigger)) {
    add_every(found, item, *every, from, count);
  } else if (const auto* once = std::get_if<schedule::at_trigger>(&item.trigger)) {
    add_at(found, *once, item.past, from, count);
  } else {
    found.trigger = "no schedule";
    found.remark = "runs when triggered";
  }
  if (!item.enabled) {
    found.fires.clear();
    found.remark = "disabled";
  } else if (item.past && item.past->state.paused) {
    found.fires.clear();
    found.remark = "paused";
  }
  return found;
}

}  // namespace looptask::cli
