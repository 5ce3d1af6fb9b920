#pragma once
// Instants as they may be typed on the command line. Pure; any thread. Messages quote the text and say what would be right.
//
//   "now", "+2d", "-1h30m"                    from now
//   "2026-03-29T01:00:00Z"                    RFC 3339, also with an offset such as +02:00
//   "2026-03-29T01:00:00", "2026-03-29"       wall time of the zone
//
//   parse_instant_argument("-90m", now, schedule::zone::utc()).value() == now - 90min
#include <string_view>

#include <looptask/result.hpp>
#include <looptask/time.hpp>

#include "schedule/zone.hpp"

namespace looptask::cli {

// A wall time that comes twice is its first showing, one that is missing the end of the jump.
result<instant> parse_instant_argument(std::string_view text, instant now, const schedule::zone& zone);

}  // namespace looptask::cli
