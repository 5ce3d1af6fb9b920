// Which jobs are judged now, in what order, and with how much room.
#include <algorithm>
#include <utility>

#include "engine/core.hpp"
#include "schedule/series.hpp"
#include "schedule/trigger_text.hpp"
#include "schedule/wording.hpp"

namespace looptask::engine {
namespace {

// A wall clock that is slewed may run this much faster or slower than the loop's clock.
constexpr int slewing_at_most = 1000;  // one part in
constexpr microseconds exact_below = std::chrono::seconds(2);

bool before_in_turn(const std::pair<instant, const job*>& a, const std::pair<instant, const job*>& b) {
  return a.first != b.first ? a.first < b.first : a.second->name < b.second->name;
}

}  // namespace

void engine::core::touch(job& j) {
  dirty_.insert(&j);
  // With a batch on its way only attempts that may have to be stopped cannot wait until it has come.
  const bool may_be_stopped = !j.runs.empty() && (j.definition.timeout || !j.told.cancels.empty() || stopping_);
  if (!journal_.idle() && !may_be_stopped) return;
  fresh_.insert(&j);
  schedule_evaluation();
}

void engine::core::touch_all() {
  for (const auto& [name, j] : jobs_) touch(*j);
  schedule_evaluation();
}

void engine::core::schedule_evaluation() {
  if (!started_ || finished_ || std::exchange(evaluation_scheduled_, true)) return;
  loop_.call_idle([this, living = std::weak_ptr<char>(living_)] {
    if (living.expired()) return;
    evaluation_scheduled_ = false;
    evaluate();
  });
}

void engine::core::evaluate() {
  if (finished_) return;
  const moment now = clocks_.now();
  look_at_wall(now, std::exchange(wall_told_, false));
  if (journal_.idle()) {
    judge(now);
  } else {
    watch(now);
  }
  finish_if_done();
}

std::uint32_t engine::core::room() const noexcept {
  return active_ >= options_.max_running ? 0 : options_.max_running - active_;
}

// While a batch is on its way nothing is decided that the ledger would have to know; attempts are stopped all the same.
void engine::core::watch(const moment& now) {
  package stops;
  for (job* const j : std::exchange(fresh_, {})) {
    notice_stall(*j, now);
    if (j->blocked) continue;
    schedule::facts facts{.elapsed = now.elapsed, .wall = now.wall, .scope = schedule::scope::watch};
    facts.wall_plausible = !wall_trusted_from_;
    facts.judge_slots = !options_.manual_only;
    facts.ended = j->told.ended;
    facts.cancels = j->told.cancels;
    facts.draining = stopping_;
    facts.grace_over = grace_over_;
    schedule::verdict v = schedule::decide(j->definition, j->state, facts);
    j->state = std::move(v.after);
    for (const schedule::decision& d : v.decisions) carry_out(*j, d, now, stops);
    j->wake_elapsed = v.wake_elapsed;
    j->wake_wall = v.wake_wall;
    arm(*j, now);
  }
  for (const pending_event& e : stops.events) tell(e);
}

// All that happened up to now, in the order of one instant: first every end, which makes room, then every job in its turn.
void engine::core::judge(const moment& now) {
  package out;
  out.batch.clock = std::exchange(unsaved_clock_, std::nullopt);
  std::set<job*> touched = std::exchange(dirty_, {});
  fresh_.clear();
  std::vector<job*> dirty(touched.begin(), touched.end());
  std::sort(dirty.begin(), dirty.end(), [](const job* a, const job* b) { return a->name < b->name; });
  std::vector<std::pair<instant, job*>> turns;
  for (job* const j : dirty) {
    notice_stall(*j, now);
    take_edit(*j, now, out);
    if (j->blocked) {  // its runs stay open: killed now, the next life must look for their processes again
      if (stopping_) judge_asked(*j, now, out);
      continue;
    }
    judge_ends(*j, now, out);
    if (!stopping_ && !j->removing) turns.emplace_back(claim_of(*j, now), j);
  }
  std::sort(turns.begin(), turns.end(), before_in_turn);
  judge_in_turn(turns, touched, now, out);
  for (job* const j : dirty) {
    for (const auto& run : j->runs) {
      if (!run->changed.empty()) save_run(*run, out);
    }
  }
  for (job* const j : dirty) {
    if (std::exchange(j->unsaved, false) && !j->removing) save(*j, out);
    erase_if_gone(*j, out);
  }
  keep_beating();
  if (!out.empty()) journal_.submit(std::move(out));
}

// When the job's slot that comes first came due, or will; jobs take their turns in this order.
instant engine::core::claim_of(const job& j, const moment& now) const {
  instant claim = instant::max();
  if (j.room_from) {
    claim = *j.room_from;
  } else if (j.next_due) {
    claim = schedule::on_wall_clock(j.definition.trigger) ? clocks::elapsed_of_wall(*j.next_due, now) : *j.next_due;
  }
  const bool wanted_now = !j.told.requests.empty() || (j.told.begun && schedule::at_each_start(j.definition.trigger));
  return wanted_now ? std::min(claim, now.elapsed) : claim;
}

// The next one that only needs room, after `passed`.
job* engine::core::next_in_want_of_room(std::set<job*>& seen, std::pair<instant, std::string_view>& passed) const {
  if (stopping_ || room() == 0) return nullptr;
  for (auto next = want_room_.upper_bound(passed); next != want_room_.end(); ++next) {
    job* const j = next->second;
    if (!j->blocked && !seen.contains(j)) return j;
    passed = next->first;
  }
  return nullptr;
}

// Of those that were told something every one, of those that wait for room as many as find some.
void engine::core::judge_in_turn(const std::vector<std::pair<instant, job*>>& dirty, std::set<job*>& seen, const moment& now,
                                 package& out) {
  std::pair<instant, std::string_view> passed{instant::min(), {}};
  std::size_t told = 0;
  while (true) {
    job* const waiting = next_in_want_of_room(seen, passed);
    const bool first = waiting != nullptr && (told == dirty.size() || before_in_turn({*waiting->room_from, waiting},
                                                                                     {dirty[told].first, dirty[told].second}));
    if (!first && told == dirty.size()) return;
    job& j = first ? *waiting : *dirty[told++].second;
    seen.insert(&j);
    judge_all(j, now, out);
    if (std::exchange(j.unsaved, false)) save(j, out);
  }
}

void engine::core::judge_ends(job& j, const moment& now, package& out) {
  schedule::facts facts{.elapsed = now.elapsed, .wall = now.wall, .scope = schedule::scope::ends};
  facts.ended = std::exchange(j.told.ended, {});
  facts.cancels = std::exchange(j.told.cancels, {});
  facts.revived = std::exchange(j.told.revived, std::nullopt);
  facts.draining = stopping_;
  facts.grace_over = grace_over_;
  facts.removed = j.removing;
  facts.wall_plausible = !wall_trusted_from_;
  facts.judge_slots = !options_.manual_only;
  if (stopping_ || j.removing) take_asked(j, now, facts);
  // In order of run start, as they are listed in the state.
  const auto started_before = [&](const schedule::attempt_finished& a, const schedule::attempt_finished& b) {
    const auto place = [&](const schedule::slot_id& id) {
      return std::find_if(j.state.active.begin(), j.state.active.end(), [&](const auto& run) { return run.what.id == id; });
    };
    return place(a.run) < place(b.run);
  };
  std::sort(facts.ended.begin(), facts.ended.end(), started_before);
  take_verdict(j, schedule::decide(j.definition, std::move(j.state), facts), now, out);
}

// While the service stops, of a job of which nothing else may be judged.
void engine::core::judge_asked(job& j, const moment& now, package& out) {
  schedule::facts facts{.elapsed = now.elapsed, .wall = now.wall, .scope = schedule::scope::asked};
  facts.wall_plausible = !wall_trusted_from_;
  facts.draining = true;
  take_asked(j, now, facts);
  if (facts.requests.empty() && !facts.pause) return;
  take_verdict(j, schedule::decide(j.definition, std::move(j.state), facts), now, out);
}

void engine::core::take_asked(job& j, const moment& now, schedule::facts& into) {
  list_taken(j, now);
  into.requests = std::exchange(j.told.requests, {});
  into.pause = std::exchange(j.told.pause, std::nullopt);
}

void engine::core::judge_all(job& j, const moment& now, package& out) {
  const bool by_wall = schedule::on_wall_clock(j.definition.trigger);
  schedule::facts facts{.elapsed = now.elapsed, .wall = now.wall, .scope = schedule::scope::all, .room = room()};
  take_asked(j, now, facts);
  facts.wall_plausible = !wall_trusted_from_;
  facts.judge_slots = !options_.manual_only;
  facts.steps = std::exchange(j.told.steps, {});
  facts.begun = std::exchange(j.told.begun, std::nullopt);
  facts.outages = j.told.outages;
  // A job on a wall clock that nobody trusts keeps what it missed until it can be judged.
  if (!by_wall || facts.wall_plausible) j.told.outages.clear();
  take_verdict(j, schedule::decide(j.definition, std::move(j.state), facts), now, out);
}

void engine::core::take_verdict(job& j, schedule::verdict&& v, const moment& now, package& out) {
  ++evaluations_;
  j.state = std::move(v.after);
  for (const schedule::decision& d : v.decisions) carry_out(j, d, now, out);
  if (j.room_from) want_room_.erase({*j.room_from, j.name});
  j.wake_elapsed = v.wake_elapsed;
  j.wake_wall = v.wake_wall;
  j.next_due = v.next_due;
  j.room_from = v.room_from;
  if (j.room_from && !stopping_ && !j.removing) {
    want_room_.emplace(std::pair(*j.room_from, std::string_view(j.name)), &j);
  } else {
    j.room_from.reset();
  }
  arm(j, now);
}

void engine::core::arm(job& j, const moment& now) {
  j.expected.reset();
  std::optional<instant> target;
  if (j.wake_elapsed && *j.wake_elapsed > now.elapsed) target = j.wake_elapsed;
  if (j.wake_wall && *j.wake_wall > now.wall) {
    // A slewed wall clock drifts away from a far deadline: look again shortly before it.
    const microseconds ahead = *j.wake_wall - now.wall;
    const instant look = now.elapsed + (ahead < exact_below ? ahead : ahead - ahead / slewing_at_most);
    if (!target || look < *target) target = look;
  }
  if (target) {
    j.timer.arm(clocks::deadline_of(*target, now));
  } else {
    j.timer.cancel();
  }
  if (!schedule::has_series(j.definition.trigger)) return;
  if (schedule::on_wall_clock(j.definition.trigger)) {
    if (j.wake_wall) j.expected = {now.elapsed + (*j.wake_wall - now.wall), *j.wake_wall};
  } else if (j.wake_elapsed && j.next_due && *j.next_due > now.elapsed) {
    j.expected = {*j.next_due, *j.next_due};
  }
}

// A timer that comes later than the grace says that the loop stood still; so does a slot that has passed although its timer
// has not come (the machine was suspended). While the service stops nobody waits for slots, so nothing is late.
void engine::core::notice_stall(job& j, const moment& now) {
  if (stopping_ || !j.expected || now.elapsed < j.expected->elapsed) return;
  const job::expected_slot slot = *j.expected;
  j.expected.reset();
  const microseconds late = now.elapsed - slot.elapsed;
  if (!schedule::stood_still(j.definition, late)) return;
  const bool by_wall = schedule::on_wall_clock(j.definition.trigger);
  j.told.outages.push_back({slot.nominal, by_wall ? now.wall : now.elapsed, cause::stalled, false});
  // One stall is told once, however many jobs find it out: a slot that came due before its end belongs to it.
  const bool known = last_stall_ && slot.elapsed <= *last_stall_;
  last_stall_ = now.elapsed;
  if (known) return;
  tell_now(event_kind::loop_stalled, {},
           "the loop stood still for at least " + schedule::to_text(late) + ", until " + schedule::to_text(now.wall));
}

void engine::core::on_job_timer(job& of) {
  notice_stall(of, clocks_.now());
  touch(of);
}

void engine::core::look_at_wall(const moment& now, bool told) {
  const std::optional<schedule::wall_step> step = clocks_.step_since_last(now, told);
  if (step) {
    tell_now(event_kind::clock_step, {},
             "the wall clock was set by " + schedule::to_text(step->after - step->before) + ", from " +
                 schedule::to_text(step->before) + " to " + schedule::to_text(step->after));
  }
  if (!wall_trusted_from_) {
    if (!step) return;
    for (const auto& [name, j] : jobs_) {
      j->told.steps.push_back(*step);
      // A restart must not find a wall time that a correction took back.
      if (step->after < step->before) j->unsaved = true;
      dirty_.insert(j.get());
    }
  } else if (now.wall >= *wall_trusted_from_) {
    become_plausible(now, std::nullopt);
  } else {
    on_wall_timer();
  }
}

void engine::core::on_wall_timer() {
  if (!wall_trusted_from_) return;
  const moment now = clocks_.now();
  if (now.wall >= *wall_trusted_from_) return schedule_evaluation();
  const microseconds ahead = *wall_trusted_from_ - now.wall;
  wall_timer_.arm(clocks::deadline_of(now.elapsed + (ahead < exact_below ? ahead : ahead - ahead / slewing_at_most), now));
}

void engine::core::become_plausible(const moment& now, std::optional<schedule::wall_step> correction) {
  wall_trusted_from_.reset();
  wall_timer_.cancel();
  tell_now(event_kind::clock_plausible, {}, "the wall clock shows " + schedule::to_text(now.wall) + "; wall-clock jobs go on");
  for (const auto& [name, j] : jobs_) {
    if (correction) j->told.steps.push_back(*correction);
    for (schedule::outage& o : j->told.outages) {
      if (schedule::on_wall_clock(j->definition.trigger)) o.until = now.wall;
    }
    dirty_.insert(j.get());
  }
}

void engine::core::take_edit(job& j, const moment& now, package& out) {
  std::optional<schedule::job_definition> before;
  if (j.next_definition) {
    before = std::exchange(j.definition, std::move(j.next_definition->definition));
    j.body = std::move(j.next_definition->body);
    j.next_definition.reset();
    tell_now(event_kind::job_changed, j.name, {});
  }
  if (std::exchange(j.added_again, false)) {
    before.reset();
    j.trigger.clear();
  }
  const std::string text = schedule::trigger_text(j.definition);
  if (j.trigger.empty() && options_.manual_only) j.trigger = "none";  // the next life that looks at schedules begins with it
  if (options_.manual_only || j.removing || j.trigger == text) return;
  schedule::verdict v =
      schedule::revise(before ? &*before : nullptr, j.trigger, j.definition, std::move(j.state), now.elapsed, now.wall);
  take_verdict(j, std::move(v), now, out);
  j.expected.reset();
  j.trigger = text;
  j.unsaved = true;
}

// Nominals that a request of now must not take. Only records that are already there; those of this evaluation are decide()'s.
void engine::core::list_taken(job& j, const moment& now) {
  if (j.told.requests.empty()) return;
  std::vector<instant> taken;
  try {
    ledger::run_query query;
    query.job = j.name;
    query.since = std::chrono::floor<std::chrono::milliseconds>(now.wall);
    query.ran_only = false;
    history_.visit_runs(query, [&](const ledger::run_record& record) {
      if (record.key.kind == run_kind::manual && record.key.epoch == j.state.epoch) taken.push_back(record.key.nominal);
      return true;
    });
  } catch (const std::exception& e) {
    tell_now(event_kind::ledger_trouble, j.name,
             std::string("requests by hand cannot be checked against the history: ") + e.what());
  }
  for (schedule::request& r : j.told.requests) r.taken = taken;
}

void engine::core::erase_if_gone(job& j, package& out) {
  if (!j.removing || !j.state.active.empty()) return;
  const std::string name = j.name;
  out.batch.removed_jobs.push_back(name);
  out.events.push_back({.what = event_kind::job_removed,
                        .wall = clocks_.now().wall,
                        .elapsed = clocks_.now().elapsed,
                        .job = name,
                        .run = {},
                        .attempt = {},
                        .error = {},
                        .text = {},
                        .at = {}});
  if (j.room_from) want_room_.erase({*j.room_from, j.name});
  dirty_.erase(&j);
  fresh_.erase(&j);
  jobs_.erase(name);
}

}  // namespace looptask::engine
