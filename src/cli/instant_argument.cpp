#include "cli/instant_argument.hpp"

#include <optional>
#include <string>

#include "base/printable.hpp"
#include "schedule/instant_text.hpp"
#include "service/duration.hpp"

namespace looptask::cli {
namespace {

std::optional<instant> wall_time(std::string_view text, const schedule::zone& zone) {
  for (const std::string_view rest : {"Z", "T00:00:00Z"}) {
    const auto wall = schedule::parse_instant(std::string(text) + std::string(rest));
    if (!wall) continue;
    const auto second = std::chrono::floor<std::chrono::seconds>(wall.value());
    return instant(zone.resolve(schedule::civil_of(second.time_since_epoch().count())).first) + (wall.value() - second);
  }
  return std::nullopt;
}

}  // namespace

result<instant> parse_instant_argument(std::string_view text, instant now, const schedule::zone& zone) {
  if (text == "now") return now;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    const auto distance = service::parse_duration(text.substr(1));
    if (distance) return text[0] == '-' ? now - distance.value() : now + distance.value();
  } else if (auto when = schedule::parse_instant(text)) {
    return when;
  } else if (const auto wall = wall_time(text, zone)) {
    return *wall;
  }
  return error{in_quotes(text) +
               " is no instant; right would be now, -1h, +2d, 2026-03-29, 2026-03-29T01:00:00 or 2026-03-29T01:00:00Z"};
}

}  // namespace looptask::cli
