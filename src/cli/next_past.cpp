#include "cli/next_past.hpp"

#include <algorithm>

#include "engine/clocks.hpp"
#include "schedule/decide.hpp"
#include "schedule/trigger_text.hpp"

namespace looptask::cli {
namespace {

std::optional<instant> latest_of(const ledger::snapshot& past) {
  std::optional<instant> latest = past.alive;
  for (const ledger::job_record& job : past.jobs) {
    // An absent instant is earlier than every other.
    latest = std::max({latest, job.last_start, job.last_end});
  }
  return latest;
}

schedule::job_state state_of(const ledger::job_record& job, const ledger::snapshot& past) {
  schedule::job_state state;
  state.judged_from = job.judged_from;
  state.anchor = job.anchor;
  state.watermark = job.watermark;
  state.wall_high = job.wall_high;
  state.epoch = job.epoch;
  state.last_start = job.last_start;
  state.last_end = job.last_end;
  state.paused = job.paused;
  for (const ledger::run_record& run : past.unfinished) {
    if (run.key.job != job.name) continue;
    const schedule::slot what{.id = {run.key.kind, run.key.nominal, run.key.epoch}, .due = run.due, .run_id = run.run_id};
    if (run.phase == ledger::record_phase::waiting)
      state.waiting.push_back({what, run.why, run.due});
    else
      state.active.push_back({.what = what});
  }
  return state;
}

}  // namespace

std::map<std::string, job_past, std::less<>> past_of_jobs(ledger::store& history,
                                                          const std::vector<schedule::job_definition>& jobs, clock_port& clock,
                                                          instant from) {
  const ledger::snapshot past = history.load();
  engine::clocks clocks(clock);
  clocks.begin(past.clock, latest_of(past));
  const engine::moment now = clocks.now();
  std::map<std::string, job_past, std::less<>> found;
  for (const ledger::job_record& record : past.jobs) {
    const auto job =
        std::find_if(jobs.begin(), jobs.end(), [&](const schedule::job_definition& d) { return d.name == record.name; });
    if (job == jobs.end()) continue;
    job_past of{state_of(record, past), now.wall - now.elapsed, record.trigger == schedule::trigger_text(*job)};
    if (!of.continues)
      of.state = schedule::revise(nullptr, record.trigger, *job, std::move(of.state), from - of.wall_ahead, from).after;
    found.emplace(record.name, std::move(of));
  }
  return found;
}

}  // namespace looptask::cli
