#pragma once
// A number with its noun. Pure; any thread.
//
//   counted(1, "job") == "1 job"    counted(3, "job") == "3 jobs"
#include <cstddef>
#include <string>
#include <string_view>

namespace looptask::service {

inline std::string counted(std::size_t n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

}  // namespace looptask::service
