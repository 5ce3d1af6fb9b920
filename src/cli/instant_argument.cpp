#include "cli/instant_argument.hpp"

#include "schedule/instant_text.hpp"
#include "service/duration.hpp"
#include "service/quote.hpp"

namespace looptask::cli {

result<instant> parse_instant_argument(std::string_view text, instant now) {
  if (text == "now") return now;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    const auto distance = service::parse_duration(text.substr(1));
    if (distance) return text[0] == '-' ? now - distance.value() : now + distance.value();
  } else if (auto when = schedule::parse_instant(text)) {
    return when;
  }
  return error{service::in_quotes(text) + " is no instant; right would be now, -1h, +2d or 2026-03-29T01:00:00Z"};
}

}  // namespace looptask::cli
