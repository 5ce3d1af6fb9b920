#include "cli/next_fires.hpp"

#include <fmt/format.h>

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

void add_cron(coming& to, const schedule::cron_trigger& cron, instant from, std::int64_t count) {
  const schedule::cron_expression& e = cron.expression;
  to.trigger = "cron " + e.to_string();
  to.warnings = schedule::warnings_of(e, cron.where, from);
  for (auto at = e.next(from, cron.where); at && std::ssize(to.fires) < count; at = e.next(*at, cron.where)) {
    const dst_note note = e.note_of(*at, cron.where);
    to.fires.push_back({*at, note, note_text(note, *at, cron.where, e.is_wildcard())});
  }
  if (e.is_reboot()) {
    to.remark = "once when the service starts";
  } else if (std::ssize(to.fires) < count) {
    to.remark = to.fires.empty() ? "never fires again" : "no more after that";
  }
}

void add_every(coming& to, const schedule::every_trigger& every, instant from, std::int64_t count) {
  const std::string interval = service::print_duration(every.interval);
  const instant first = from + every.initial_delay;
  using schedule::interval_from;
  switch (every.from) {
    case interval_from::grid:
      to.trigger = fmt::format("every {} from grid", interval);
      to.remark = "if the service starts then";
      for (std::int64_t k = 0; k < count; ++k) to.fires.push_back({first + every.interval * k, dst_note::none, ""});
      return;
    case interval_from::start:
      to.trigger = fmt::format("every {} from start", interval);
      to.remark = fmt::format("if the service starts then; then {} after each run started, or when it ends", interval);
      break;
    case interval_from::end:
      to.trigger = fmt::format("every {} from end", interval);
      to.remark = fmt::format("if the service starts then; then {} after each run ended", interval);
      break;
  }
  if (count > 0) to.fires.push_back({first, dst_note::none, ""});
}

}  // namespace

coming coming_fires(const next_item& item, instant from, std::int64_t count) {
  coming found;
  if (const auto* cron = std::get_if<schedule::cron_trigger>(&item.trigger)) {
    add_cron(found, *cron, from, count);
  } else if (const auto* every = std::get_if<schedule::every_trigger>(&item.trigger)) {
    add_every(found, *every, from, count);
  } else if (const auto* once = std::get_if<schedule::at_trigger>(&item.trigger)) {
    found.trigger = "at";
    if (once->when > from && count > 0) {
      found.fires.push_back({once->when, dst_note::none, ""});
    } else {
      found.remark = "its instant has passed";
    }
  } else {
    found.trigger = "no schedule";
    found.remark = "runs when triggered";
  }
  if (!item.enabled) {
    found.fires.clear();
    found.remark = "disabled";
  }
  return found;
}

}  // namespace looptask::cli
