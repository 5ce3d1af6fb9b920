#pragma once
// Instants as the clock of a zone shows them. Pure; any thread.
//
//   wall_text(at, zone, ' ', true) == "2026-03-29 03:00:00.250"
#include <string>

#include <looptask/time.hpp>

#include "schedule/zone.hpp"

namespace looptask::service {

// `separator` between date and time; with milliseconds or cut to seconds, towards the past. Without the zone's offset.
std::string wall_text(instant at, const schedule::zone& zone, char separator, bool milliseconds);

}  // namespace looptask::service
