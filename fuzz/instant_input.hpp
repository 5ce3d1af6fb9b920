#pragma once
// What the fuzzer asks of any bytes as an instant: a value that prints and reads back as itself, or one line of error.
#include <cstdint>
#include <span>
#include <string>

#include <looptask/assert.hpp>

#include "schedule/instant_text.hpp"
#include "schedule/zone_names.hpp"

namespace looptask::fuzz {

inline void read_instant(std::span<const std::uint8_t> bytes) {
  const std::string text(bytes.begin(), bytes.end());
  const auto parsed = schedule::parse_instant(text);
  if (parsed) {
    const auto whole = std::chrono::floor<std::chrono::milliseconds>(parsed.value());
    const std::string printed = schedule::instant_text(parsed.value(), schedule::fraction::milliseconds);
    const auto again = schedule::parse_instant(printed);
    // An offset can move the first or last hours of the range out of it.
    LOOPTASK_ASSERT(printed.size() != 24 || printed[0] == '-' || (again && again.value() == whole),
                    "an instant reads back as itself");
  } else {
    LOOPTASK_ASSERT(parsed.message().find('\n') == std::string::npos, "an error is one line");
  }
  static_cast<void>(schedule::zone_name_fault(text));
  for (const std::string& name : schedule::zone_names_of(text)) {
    LOOPTASK_ASSERT(!schedule::zone_name_fault(name), "listed names are well formed");
  }
}

}  // namespace looptask::fuzz
