#pragma once
// The coming fire times of jobs, with what a change of the clock does to them. Pure: the verb `next` brings trigger, zone,
// instant and what the history says. Interval jobs continue where the history left off; those that it does not know are shown
// as if the service started at `from`. Where a slot follows from the end or start of a run, only the first is known.
//
//   for (const coming_fire& f : coming_fires(item, from, 5).fires) print(instant_text(f.at, fraction::none), f.note);
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <looptask/time.hpp>

#include "cli/next_past.hpp"
#include "schedule/cron_warnings.hpp"
#include "schedule/definition.hpp"

namespace looptask::cli {

struct next_item {
  std::string name;  // of the job; empty for an expression given on the command line
  schedule::trigger trigger;
  schedule::zone zone;  // for showing wall time; of a cron trigger its own
  bool enabled = true;
  std::optional<job_past> past = std::nullopt;  // none: the history does not know the job
};

struct coming_fire {
  instant at;
  schedule::dst_note dst = schedule::dst_note::none;
  std::string note;  // dst in words, empty for none
};

struct coming {
  std::string trigger;  // in words: "cron 0 3 * * *", "every 5m from end"
  std::vector<coming_fire> fires;
  std::string remark;  // why there are no more, or what the rest depends on; empty if nothing needs to be said
  std::vector<schedule::cron_warning> warnings;
};

// The first `count` fire times strictly later than `from` (an interval job that starts at `from`, or is overdue then, fires at
// `from` itself).
coming coming_fires(const next_item& item, instant from, std::int64_t count);

}  // namespace looptask::cli
