#pragma once
// What would be right, for the mistakes in TOML itself that people make most. Pure; any thread.
#include <optional>
#include <string>
#include <string_view>

#include "service/toml_document.hpp"

namespace looptask::service {

// A text without quotes: the value behind the '=' of the line, shown in quotes. nullopt if that is not what the line has.
std::optional<std::string> quotes_needed(std::string_view text, position at);

// The line in which the table or key of line `at` was defined before; nullopt if it does not stand there in the same words.
std::optional<int> first_definition(std::string_view text, position at);

}  // namespace looptask::service
