#pragma once
// Sizes in bytes as people write them in configuration: "256KiB", "10MB", "0B". A whole number and one unit: B, KB, MB, GB, TB
// (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024). At most 1 PiB. Pure; any thread.
#include <cstdint>
#include <string>
#include <string_view>

#include <looptask/result.hpp>

namespace looptask::service {

result<std::int64_t> parse_size(std::string_view text);
// A text that parse_size reads as `bytes`, which is not negative.
std::string print_size(std::int64_t bytes);

}  // namespace looptask::service
