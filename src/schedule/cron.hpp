#pragma once
// Cron expressions of five, six and seven fields and the macros, as docs/cron.md defines them. Parsed values are immutable,
// small, free of allocation in next(), and may be shared by threads.
#include <optional>
#include <string>
#include <string_view>

#include <looptask/result.hpp>
#include <looptask/time.hpp>

#include "schedule/zone.hpp"

namespace looptask::schedule {

class cron_expression {
 public:
  // Errors name the field, the offending text and what would be right. Bounded time and memory for any input.
  static result<cron_expression> parse(std::string_view text);

  // The smallest fire time strictly later than `after`; nullopt: never again. Bounded search. For `@every` the instants are
  // after + interval (so a chain of calls is start + k * interval, microseconds kept); `@reboot` has none.
  std::optional<instant> next(instant after, const zone& where) const;

  // Canonical text: parse(to_string()) is the same expression.
  std::string to_string() const;
  bool is_wildcard() const noexcept;  // minute or hour field begins with '*': follows the wall clock through changes
  bool is_reboot() const noexcept;
  std::optional<microseconds> every() const noexcept;  // of "@every"
};

}  // namespace looptask::schedule
