#pragma once
// Durations as people read them in tables: three digits that matter. Pure; any thread. For programs: seconds, records_json.hpp.
//
//   duration_words(1'234us) == "1.23ms"    duration_words(75s) == "1m15s"    duration_words(-2ms) == "-2.00ms"
#include <string>

#include <looptask/time.hpp>

namespace looptask::service {

std::string duration_words(microseconds value);

}  // namespace looptask::service
