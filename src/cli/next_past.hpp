#pragma once
// What the history says of the jobs of a configuration, so that `next` continues intervals where the service would: the state
// of each job as the engine restores it. Reads only. Main thread.
//
//   const auto pasts = past_of_jobs(*open_history(directory), definitions, clock, from);
#include <map>
#include <string>
#include <vector>

#include <looptask/host.hpp>
#include <looptask/time.hpp>

#include "ledger/ledger.hpp"
#include "schedule/definition.hpp"
#include "schedule/state.hpp"

namespace looptask::cli {

struct job_past {
  schedule::job_state state;
  microseconds wall_ahead{0};  // wall clock minus elapsed timeline, now
  bool continues = true;       // false: the trigger was changed or enabled since, so its phase begins when the service starts
};

// Jobs that the history does not know are absent. What was edited since the history was written is revised as of `from`.
std::map<std::string, job_past, std::less<>> past_of_jobs(ledger::store& history,
                                                          const std::vector<schedule::job_definition>& jobs, clock_port& clock,
                                                          instant from);

}  // namespace looptask::cli
