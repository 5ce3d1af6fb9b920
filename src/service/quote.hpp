#pragma once
// Text of a user inside a message: quoted, on one line, never too long. Pure; any thread.
#include <string>
#include <string_view>

namespace looptask::service {

// In double quotes; control characters as \n, \t or \u00XX; cut after 80 bytes at the border of a character, then "...".
std::string in_quotes(std::string_view text);

// A part of a key as TOML writes it: bare if it may be, else quoted.
std::string key_part(std::string_view name);

}  // namespace looptask::service
