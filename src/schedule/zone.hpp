#pragma once
// Time zones behind our own interface (cctz inside). Values are immutable and may be shared by threads.
#include <memory>
#include <optional>
#include <string>

#include <looptask/result.hpp>
#include <looptask/time.hpp>

namespace looptask::schedule {

// Fields of a wall clock, without a zone. Valid as a date unless said otherwise.
struct civil {
  std::int64_t year = 1970;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0;
  auto operator<=>(const civil&) const = default;
};

class zone {
 public:
  // `name` as in the installed database ("Asia/Shanghai", "UTC"). The name is checked by us against the database: an unknown
  // one is an error with the nearest name, never UTC in silence.
  static result<zone> load(const std::string& name);
  static zone utc();

  const std::string& name() const noexcept;
  civil to_civil(std::chrono::sys_seconds when) const;

  // What a wall-clock time means here.
  enum class showing : std::uint8_t { once, missing, repeated };
  struct lookup {
    showing kind;
    std::chrono::sys_seconds
        first;  // once: the instant. repeated: the first showing. missing: the first instant after the jump
    std::chrono::sys_seconds second;  // repeated: the second showing; else equal to first
  };
  lookup resolve(const civil& when) const;
  // The next change of the clock strictly later than `when` that moves wall time.
  struct transition {
    std::chrono::sys_seconds at;
    civil before, after;  // what the clock would have shown, and shows
  };
  std::optional<transition> next_transition(std::chrono::sys_seconds when) const;

 private:
  struct rules;
  std::shared_ptr<const rules> rules_;
};

}  // namespace looptask::schedule
