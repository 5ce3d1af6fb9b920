#pragma once
// A job on the bench: decide() is called at given milliseconds, and says what it decided as short lines, e.g.
//   "open 1000"                    the slot of 1000 ms runs          "open 1000#2"             its second attempt starts
//   "hold 1000 overlap"            it waits                          "retry 1000#1 at 1500"    after attempt 1, the next at
//   1500 "skipped 1000 overlap"         it will not run                   "missed 1000..3000 x3 down" "stop 1000#1 timeout" the
//   attempt is to be stopped      "end 1000 success at 1200"
// Each call checks as well that the new state is the fold of the decisions and that nobody is woken in the past.
#include <string>
#include <string_view>
#include <vector>

#include "schedule/decide.hpp"

namespace looptask::schedule {

using lines = std::vector<std::string>;

// Elapsed and wall time 0 of every bench: 2025-01-01T00:00:00Z.
inline constexpr instant bench_origin{std::chrono::seconds(1735689600)};

constexpr instant at_ms(std::int64_t ms) { return bench_origin + std::chrono::milliseconds(ms); }
constexpr microseconds ms(std::int64_t count) { return std::chrono::milliseconds(count); }

job_definition every(std::int64_t interval_ms, interval_from from, std::int64_t initial_delay_ms = 0);
job_definition cron(std::string_view expression);
job_definition at(std::int64_t when_ms);
job_definition by_hand();  // no trigger

lines describe(const std::vector<decision>& decisions);

class bench {
 public:
  explicit bench(job_definition definition, std::int64_t created_ms = 0);

  // One call of decide(). Attempts that it opens begin at once; ends and so on are told beforehand by the functions below.
  lines at(std::int64_t now_ms);

  // Told to the next at().
  bench& ended(std::int64_t nominal_ms, std::int64_t at_ms, run_result result = run_result::success, std::uint32_t n = 1);
  bench& wall_jumped(std::int64_t by_ms, std::int64_t now_ms);  // the wall clock stays so afterwards
  bench& down(std::int64_t until_ms, std::int64_t last_sign_of_life_ms);
  bench& stalled(std::int64_t from_ms, std::int64_t until_ms);
  bench& asked(std::string run_id, std::vector<instant> taken = {});
  facts& told() { return told_; }
  lines edit(job_definition definition, std::int64_t now_ms);

  job_definition& definition() { return definition_; }
  const job_state& state() const { return state_; }
  job_state& state() { return state_; }
  const verdict& last() const { return last_; }
  std::uint32_t room = 1000;  // of the next call
  bool plausible = true;
  bool begins = true;  // attempts that are opened exist at once

 private:
  instant wall(std::int64_t now_ms) const { return at_ms(now_ms) + wall_offset_; }
  bool by_wall() const { return on_wall_clock(definition_.trigger); }

  job_definition definition_;
  job_state state_;
  facts told_;
  verdict last_;
  microseconds wall_offset_{0};
};

}  // namespace looptask::schedule
