#pragma once
// The invariants of a history (docs/semantics.md, invariants), judged from the ledger's records and the job's own side log.
// Pure: gives one sentence for each violation, none if all is well.
#include <map>
#include <string>
#include <vector>

#include <looptask/time.hpp>

#include "kill9/side_log.hpp"
#include "ledger/ledger.hpp"

namespace looptask::tests {

struct judged_job {
  enum class slots { grid, from_end, from_start } how;  // a cron expression of constant period is a grid
  microseconds interval{};
};

// For a history whose service has stopped. Every slot between a job's first and last record has exactly one outcome, or it is
// the one that waits for the next start; keys are unique; nothing is open; grids keep their phase, `end` and `start` follow
// from the run before.
std::vector<std::string> check_slots(const std::vector<ledger::run_record>& records,
                                     const std::map<std::string, judged_job>& jobs);

// Nothing began twice, no two processes of a job overlapped, every begin was claimed before, and success has its end line.
std::vector<std::string> check_side_log(const std::vector<ledger::run_record>& records, const std::vector<side_line>& lines);

}  // namespace looptask::tests
