#pragma once
// The names of the system's time zone database, to suggest one for a misspelt name. Any thread that may use `files`.
#include <string>
#include <vector>

#include <looptask/host.hpp>

namespace looptask::service {

// Empty if the system keeps no list of them.
std::vector<std::string> installed_zones(file_port& files);

}  // namespace looptask::service
