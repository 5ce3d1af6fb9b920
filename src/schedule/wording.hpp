#pragma once
// Times as words, for the one-sentence reasons of decisions. Pure.
#include <string>

#include <looptask/time.hpp>

namespace looptask::schedule {

std::string to_text(instant when);           // "2025-01-01T00:00:00.000Z"
std::string to_text(microseconds how_long);  // "1.5s", "250ms", "3h0m1s", "-2s"

}  // namespace looptask::schedule
