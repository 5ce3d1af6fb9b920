#pragma once
// Run ids: ULIDs, 26 characters that sort by their millisecond. Uniqueness comes from 80 random bits. Pure.
#include <cstdint>
#include <string>

#include <looptask/time.hpp>

namespace looptask::engine {

std::string make_ulid(instant wall, std::uint64_t random_high, std::uint64_t random_low);

}  // namespace looptask::engine
