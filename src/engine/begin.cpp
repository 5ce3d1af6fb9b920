// The ledger's past becomes the present.
#include <algorithm>
#include <utility>

#include <looptask/assert.hpp>

#include "engine/core.hpp"
#include "schedule/series.hpp"
#include "schedule/trigger_text.hpp"
#include "schedule/wording.hpp"

namespace looptask::engine {
namespace {

constexpr duration first_repeat_of_kill = std::chrono::seconds(1);
constexpr duration longest_repeat_of_kill = std::chrono::seconds(60);

std::optional<instant> latest_elapsed(const ledger::snapshot& past) {
  std::optional<instant> latest = past.alive;
  const auto consider = [&latest](const std::optional<instant>& when) {
    if (when && (!latest || *when > *latest)) latest = when;
  };
  for (const ledger::job_record& j : past.jobs) {
    consider(j.last_start);
    consider(j.last_end);
  }
  return latest;
}

schedule::slot slot_of(const ledger::run_record& record) {
  return {.id = {record.key.kind, record.key.nominal, record.key.epoch}, .due = record.due, .run_id = record.run_id};
}

}  // namespace

void engine::core::start() {
  LOOPTASK_ASSERT(!started_, "an engine starts once");
  const ledger::snapshot past = history_.load();
  const ledger::timeline clock = clocks_.begin(past.clock, latest_elapsed(past));
  if (past.clock != clock) unsaved_clock_ = clock;
  const moment now = clocks_.now();

  std::set<std::string, std::less<>> known;
  const auto job_of = [&](const std::string& name) -> job& {
    if (job* const j = find(name)) return *j;
    job& gone = *jobs_.emplace(name, std::make_unique<job>(loop_, *this, name)).first->second;
    gone.definition.name = name;
    gone.removing = true;
    return gone;
  };
  std::optional<instant> newest;
  for (const ledger::job_record& record : past.jobs) {
    known.insert(record.name);
    restore(job_of(record.name), record);
    newest = std::max(newest.value_or(record.wall_high), record.wall_high);
  }
  for (const auto& [name, j] : jobs_) {
    if (!known.contains(name)) create(*j, now);
  }
  std::map<std::string, std::vector<process_port::leftover>> leftovers;
  for (const ledger::run_record& record : past.unfinished) {
    job& j = job_of(record.key.job);
    restore_run(j, record, past.alive, now);
    newest = std::max(newest.value_or(record.decided), record.decided);
    if (record.phase != ledger::record_phase::open) continue;
    std::optional<process_identity> who;
    if (!record.attempts.empty()) who = record.attempts.back().process;
    std::optional<duration> alive_until;
    if (past.alive) alive_until = loop_.where().clock().boot() - (now.elapsed - *past.alive);
    leftovers[j.name].push_back({record.run_id, std::move(who), alive_until});
  }
  for (const auto& [name, j] : jobs_) {
    j->told.begun = now.wall;
    j->told.revived = past.alive.value_or(instant::min());
    add_outage(*j, now);
    if (!j->removing) tell_now(event_kind::job_added, name, j->definition.enabled ? "" : "disabled");
  }
  if (newest) check_wall_at_start(*newest, now);
  loop_.where().clock().on_wall_step([this] {
    wall_told_ = true;
    touch_all();  // the machine may have been suspended: elapsed time went on, the loop's timers did not
  });
  hold_ = loop_.hold();
  started_ = true;
  touch_all();
  for (auto& [name, runs] : leftovers) {
    find(name)->blocked = true;
    ++blocked_;
    kill_leftovers(name, std::move(runs), 0);
  }
}

// Nobody looked at this job's slots until now; what waited is lost.
void engine::core::add_outage(job& j, const moment& now) {
  const bool by_wall = schedule::on_wall_clock(j.definition.trigger);
  j.told.outages.push_back({instant::min(), by_wall ? now.wall : now.elapsed, cause::down, true});
}

void engine::core::restore(job& j, const ledger::job_record& record) {
  j.trigger = record.trigger;
  j.state.judged_from = record.judged_from;
  j.state.anchor = record.anchor;
  j.state.watermark = record.watermark;
  j.state.wall_high = record.wall_high;
  j.state.epoch = record.epoch;
  j.state.last_start = record.last_start;
  j.state.last_end = record.last_end;
  j.state.paused = record.paused;
  j.runs_ended = record.runs;
  j.failures = record.failures;
  j.last_error = record.last_error;
}

// A job that the ledger does not know. Under a name that was used before, its slots get a new epoch if they could be taken for
// old ones.
void engine::core::create(job& j, const moment& now) {
  j.state = schedule::new_state(j.definition, now.elapsed, now.wall);
  j.trigger = options_.manual_only ? "none" : schedule::trigger_text(j.definition);
  j.unsaved = true;
  ledger::run_query query;
  query.job = j.name;
  query.since = j.state.watermark + microseconds(1);
  query.ran_only = false;
  history_.visit_runs(query, [&j](const ledger::run_record& record) {
    j.state.epoch = std::max(j.state.epoch, record.key.epoch + 1);
    return true;
  });
}

void engine::core::restore_run(job& j, const ledger::run_record& record, const std::optional<instant>& alive,
                               const moment& now) {
  const schedule::slot what = slot_of(record);
  if (record.phase == ledger::record_phase::waiting) {
    const bool by_wall = what.id.kind == run_kind::manual || schedule::on_wall_clock(j.definition.trigger);
    const instant since = by_wall ? clocks::elapsed_of_wall(what.due, now) : what.due;
    j.state.waiting.push_back({what, record.why, std::min(since, now.elapsed)});
    return;
  }
  // When it began is known on the wall clock only, which may have been set since; the sign of life came later.
  const instant began = std::min(clocks::elapsed_of_wall(record.started.value_or(record.decided), now), now.elapsed);
  schedule::active_run active{.what = what};
  active.started = active.attempt_started = alive ? std::min(began, *alive) : began;
  if (what.id.kind == run_kind::schedule && j.state.last_start) active.started = *j.state.last_start;
  auto run = std::make_unique<live_run>();
  run->id = what.id;
  run->record = record;
  if (!record.attempts.empty()) {
    const ledger::attempt_record& last = record.attempts.back();
    active.attempt = last.n;
    active.phase = last.ended ? schedule::run_phase::backing_off : schedule::run_phase::going;
    if (last.n == 1) active.attempt_started = std::max(active.attempt_started, active.started);
    attempt_end known;
    known.output_head = last.output_head;
    known.output_tail = last.output_tail;
    known.output_dropped = last.output_dropped;
    run->ended = std::move(known);
    ledger::attempt_record current = last;
    current.output_head.clear();
    current.output_tail.clear();
    run->record.attempts.clear();
    run->record.attempts.push_back(std::move(current));
  }
  j.state.active.push_back(std::move(active));
  j.runs.push_back(std::move(run));
  ++active_;
}

void engine::core::check_wall_at_start(instant newest, const moment& now) {
  if (now.wall >= newest) return;
  wall_trusted_from_ = newest;
  on_wall_timer();
  tell_now(event_kind::clock_implausible, {},
           "the wall clock shows " + schedule::to_text(now.wall) + ", but the ledger has a record of " +
               schedule::to_text(newest) + "; jobs with cron or at wait until it has passed that, or is set right");
}

void engine::core::kill_leftovers(const std::string& name, std::vector<process_port::leftover> runs, std::uint32_t failures) {
  std::vector<process_port::leftover> copy = runs;
  loop_.where().processes().kill_leftovers(std::move(copy), [this, living = std::weak_ptr<char>(living_), name,
                                                             runs = std::move(runs), failures](int killed, int left) {
    if (living.expired()) return;
    if (killed > 0) {
      tell_now(event_kind::leftovers_killed, name, std::to_string(killed) + " processes of an interrupted run were killed");
    }
    if (left == 0) {
      if (job* const j = find(name)) {
        j->blocked = false;
        --blocked_;
        touch(*j);
      }
      return;
    }
    tell_now(event_kind::leftovers_alive, name,
             std::to_string(left) + " processes of an interrupted run would not die; the job waits for them");
    const duration delay = std::min(longest_repeat_of_kill, first_repeat_of_kill * (1 << std::min(failures, 6U)));
    loop_.call_later(delay, [this, living, name, runs, failures] {
      if (!living.expired() && !finished_) kill_leftovers(name, runs, failures + 1);
    });
  });
}

}  // namespace looptask::engine
