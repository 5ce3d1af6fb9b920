#pragma once
// Names of signals and error numbers for people. Pure, any thread.
//
//   signal_name(11) == "SIGSEGV"
//   error_text(2) == "No such file or directory (ENOENT)"
#include <optional>
#include <string>
#include <string_view>

namespace looptask::jobs {

std::string signal_name(int number);                               // "signal 99" if it has no name
std::optional<int> signal_number(std::string_view name) noexcept;  // "SIGINT", "INT"; case does not matter
std::string error_text(int number);

}  // namespace looptask::jobs
