#pragma once
// The engine's view of time: elapsed timeline, wall clock and the loop's clock, read as one moment. Knows the offset between
// boot clock and elapsed timeline, and notices when somebody set the wall clock.
//
// Owner: the loop's thread. The elapsed timeline never goes back, not even over a reboot with a wrong wall clock.
#include <optional>

#include <looptask/host.hpp>
#include <looptask/time.hpp>

#include "ledger/ledger.hpp"
#include "schedule/facts.hpp"

namespace looptask::engine {

struct moment {
  instant elapsed;
  instant wall;
  monotonic_time monotonic;
};

class clocks {
 public:
  explicit clocks(clock_port& from) : from_(from) {}

  // Goes on where the ledger left off in this boot; else starts from the wall clock, but not before `not_before` (elapsed).
  // Returns what the ledger is to keep.
  ledger::timeline begin(const std::optional<ledger::timeline>& kept, std::optional<instant> not_before);

  moment now() const;

  // Whether the wall clock was set since the last call. `told`: the host says so; then small differences count as well.
  std::optional<schedule::wall_step> step_since_last(const moment& now, bool told);

  static instant wall_of(instant elapsed, const moment& now) { return now.wall - (now.elapsed - elapsed); }
  static instant elapsed_of_wall(instant wall, const moment& now) { return now.elapsed - (now.wall - wall); }
  static instant elapsed_of(monotonic_time at, const moment& now);
  // When the loop's clock will show that the elapsed timeline has reached `when`; never early. Far instants are cut.
  static monotonic_time deadline_of(instant when, const moment& now);

 private:
  clock_port& from_;
  microseconds offset_{0};
  microseconds drift_{0};  // wall - elapsed when last looked at
};

}  // namespace looptask::engine
