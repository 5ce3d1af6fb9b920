#pragma once
// Names inside the path of a key, in messages. Pure; any thread.
#include <string>
#include <string_view>

namespace looptask::service {

// A part of a key as TOML writes it: bare if it may be, else quoted.
std::string key_part(std::string_view name);

}  // namespace looptask::service
