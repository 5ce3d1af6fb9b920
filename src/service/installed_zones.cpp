#include "service/installed_zones.hpp"

#include <system_error>

#include "schedule/zone_names.hpp"

namespace looptask::service {

std::vector<std::string> installed_zones(file_port& files) {
  try {
    return schedule::zone_names_of(files.read("/usr/share/zoneinfo/tzdata.zi"));
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace looptask::service
