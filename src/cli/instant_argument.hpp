#pragma once
// Instants as they may be typed on the command line: "now", "-1h", "+2d", or RFC 3339. Pure; any thread.
//
//   parse_instant_argument("-90m", now).value() == now - 90min
#include <string_view>

#include <looptask/result.hpp>
#include <looptask/time.hpp>

namespace looptask::cli {

result<instant> parse_instant_argument(std::string_view text, instant now);

}  // namespace looptask::cli
