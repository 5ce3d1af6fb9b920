#include "service/wall_text.hpp"

#include <fmt/format.h>

namespace looptask::service {

std::string wall_text(instant at, const schedule::zone& zone, char separator, bool milliseconds) {
  const auto second = std::chrono::floor<std::chrono::seconds>(at);
  const schedule::civil c = zone.to_civil(second);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}", c.year, c.month, c.day, separator, c.hour, c.minute, c.second);
  if (milliseconds) text += fmt::format(".{:03}", std::chrono::floor<std::chrono::milliseconds>(at - second).count());
  return text;
}

}  // namespace looptask::service
