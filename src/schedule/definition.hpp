#pragma once
// What a job is, as far as decisions need it: trigger and policies. Pure values; thread-safe as such.
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include <looptask/time.hpp>

#include "schedule/cron.hpp"
#include "schedule/zone.hpp"

namespace looptask::schedule {

enum class interval_from : std::uint8_t { end, start, grid };

struct every_trigger {
  microseconds interval{};  // at least 1 ms
  interval_from from = interval_from::end;
  microseconds initial_delay{0};
};

struct cron_trigger {
  cron_expression expression;
  zone where;
};

struct at_trigger {
  instant when{};
};

// monostate: no schedule; such a job runs when triggered by hand.
using trigger = std::variant<std::monostate, every_trigger, cron_trigger, at_trigger>;

enum class overlap_policy : std::uint8_t { skip, queue_one };
enum class misfire_policy : std::uint8_t { skip, run_once };
enum class backoff_kind : std::uint8_t { fixed, linear, exponential };

// Before retry n (1, 2, ...): fixed delay; linear delay * n; exponential delay * factor^(n-1); never above max_delay; then
// times (1 + u * jitter), u in [0, 1). Counted from the end of the failed attempt.
struct retry_policy {
  std::uint32_t max = 0;  // attempts after the first
  backoff_kind backoff = backoff_kind::exponential;
  microseconds delay = std::chrono::seconds(1);
  std::uint32_t factor = 2;
  microseconds max_delay = std::chrono::minutes(1);
  double jitter = 0.1;
};

struct job_definition {
  std::string name;
  schedule::trigger trigger;
  overlap_policy overlap = overlap_policy::skip;
  misfire_policy misfire = misfire_policy::run_once;
  microseconds misfire_grace = std::chrono::seconds(1);
  std::optional<microseconds> timeout;  // per attempt
  retry_policy retry;
  bool enabled = true;
};

}  // namespace looptask::schedule
