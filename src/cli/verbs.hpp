#pragma once
// The list of verbs, in the order in which --help shows them, and the names that later versions will bring.
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cli/verb.hpp"

namespace looptask::cli {

std::vector<std::unique_ptr<verb>> all_verbs();
std::span<const std::string_view> coming_verbs() noexcept;

std::unique_ptr<verb> make_run_verb();
std::unique_ptr<verb> make_check_verb();
std::unique_ptr<verb> make_next_verb();
std::unique_ptr<verb> make_runs_verb();
std::unique_ptr<verb> make_version_verb();

}  // namespace looptask::cli
