#pragma once
// Time zones of the installed database behind our own interface (cctz reads them, once for each zone). Values are immutable
// and may be shared by threads; copies share one table of the zone's clock changes, so a lookup is a few nanoseconds and
// allocates nothing. Years -9999 to 9999; after the last change the database lists, its rule for the future goes on for ever.
//
//   auto berlin = zone::load("Europe/Berlin");              // error: "unknown time zone ..., did you mean ...?"
//   civil c = berlin.value().to_civil(some_second);
//   auto found = berlin.value().resolve({2026, 3, 29, 2, 30, 0});
//   found.kind == zone::showing::missing                     // 02:00 becomes 03:00 there
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <looptask/result.hpp>
#include <looptask/time.hpp>

#include "schedule/civil.hpp"

namespace looptask::schedule {

class zone {
 public:
  // `name` exactly as in the installed database ("Asia/Shanghai", "UTC"). An unknown name is an error, never UTC in silence;
  // the error suggests the nearest of `known` (see zone_names.hpp), which the caller has read from the database.
  static result<zone> load(const std::string& name, std::span<const std::string> known = {});
  static zone utc();

  const std::string& name() const noexcept;
  civil to_civil(std::chrono::sys_seconds when) const noexcept;

  // What a wall-clock time means here.
  enum class showing : std::uint8_t { once, missing, repeated };
  struct lookup {
    showing kind;
    // once: the instant. repeated: the first showing. missing: the first instant after the jump
    std::chrono::sys_seconds first;
    std::chrono::sys_seconds second;  // repeated: the second showing; else equal to first
  };
  // `when` must be a valid date and time of day.
  lookup resolve(const civil& when) const noexcept;

  // The next change of the clock strictly later than `when` that moves wall time.
  struct transition {
    std::chrono::sys_seconds at;
    civil before, after;  // what the clock would have shown, and shows
  };
  std::optional<transition> next_transition(std::chrono::sys_seconds when) const noexcept;

  // A stretch of time between two changes of the clock, in whole seconds: begin <= t < end, wall = t + offset.
  struct stretch {
    std::int64_t begin, end;  // seconds since 1970 UTC; `earliest` and `latest` where nothing bounds it
    std::int64_t passed;      // wall times below this one were shown or jumped over before `begin`
    std::int32_t offset;      // seconds east of UTC
  };
  static constexpr std::int64_t latest = std::int64_t{1} << 60;
  static constexpr std::int64_t earliest = -latest;
  stretch stretch_at(std::int64_t when) const noexcept;  // earliest <= when < latest
  std::int32_t least_offset() const noexcept;            // of all stretches
  std::int32_t greatest_offset() const noexcept;

 private:
  struct rules;
  explicit zone(std::shared_ptr<const rules> r) noexcept : rules_(std::move(r)) {}
  std::shared_ptr<const rules> rules_;
};

}  // namespace looptask::schedule
