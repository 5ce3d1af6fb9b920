#include "engine/engine.hpp"

#include <algorithm>
#include <utility>

#include <looptask/assert.hpp>

#include "engine/core.hpp"
#include "engine/ulid.hpp"
#include "schedule/series.hpp"
#include "schedule/wording.hpp"

namespace looptask::engine {
namespace {

// The next slot of an `end` or `start` job has come due and waits for room, or behind a request by hand.
bool due_and_waits(const job& j, instant elapsed) {
  return j.next_due && !schedule::has_series(j.definition.trigger) && *j.next_due <= elapsed;
}

std::uint32_t waiting_of(const job& j, instant elapsed) {
  return static_cast<std::uint32_t>(j.state.waiting.size()) + (due_and_waits(j, elapsed) ? 1 : 0);
}

}  // namespace

engine::core::core(loop& home, ledger::store& history, options how, listener& told)
    : loop_(home),
      history_(history),
      options_(how),
      listener_(told),
      clocks_(home.where().clock()),
      journal_(home, history),
      living_(std::make_shared<char>()),
      wall_timer_(home, *this),
      heart_(home, *this),
      grace_timer_(home, *this),
      give_up_timer_(home, *this) {
  LOOPTASK_ASSERT(how.max_running >= 1, "max_running is at least 1");
  LOOPTASK_ASSERT(how.heartbeat > microseconds(0), "the heartbeat is longer than nothing");
  journal_.deliver = [this](package what) { deliver(std::move(what)); };
  journal_.refuse = [this](package what, const std::string& why) { refused(std::move(what), why); };
  journal_.trouble = [this](bool troubled, const std::string& why) {
    tell_now(troubled ? event_kind::ledger_trouble : event_kind::ledger_healed, {}, why);
  };
}

engine::core::~core() {
  living_.reset();
  if (started_) loop_.where().clock().on_wall_step({});
}

job* engine::core::find(std::string_view name) const {
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? nullptr : found->second.get();
}

void engine::core::add(schedule::job_definition what, std::shared_ptr<job_body> body) {
  LOOPTASK_ASSERT(!what.name.empty(), "a job has a name");
  LOOPTASK_ASSERT(body != nullptr, "a job has a body");
  const auto* const every = std::get_if<schedule::every_trigger>(&what.trigger);
  LOOPTASK_ASSERT(every == nullptr || every->interval >= std::chrono::milliseconds(1), "an interval is at least 1 ms");
  const auto* const cron = std::get_if<schedule::cron_trigger>(&what.trigger);
  LOOPTASK_ASSERT(cron == nullptr || !cron->expression.every(), "@every is a grid: schedule::trigger_of()");
  if (job* const j = find(what.name)) {
    if (!started_) {
      j->definition = std::move(what);
      j->body = std::move(body);
      return;
    }
    if (std::exchange(j->removing, false)) j->added_again = true;
    j->next_definition = job::edit{std::move(what), std::move(body)};
    return touch(*j);
  }
  const std::string name = what.name;
  auto made = std::make_unique<job>(loop_, *this, name);
  job& j = *made;
  j.definition = std::move(what);
  j.body = std::move(body);
  const moment now = clocks_.now();
  if (started_) create(j, now);  // may throw; then nothing has happened
  jobs_.emplace(name, std::move(made));
  if (!started_) return;
  add_outage(j, now);
  tell_now(event_kind::job_added, name, j.definition.enabled ? "" : "disabled");
  touch(j);
}

bool engine::core::remove(std::string_view name) {
  job* const j = find(name);
  if (j == nullptr || j->removing) return false;
  if (!started_) return jobs_.erase(j->name) > 0;
  j->removing = true;
  j->added_again = false;
  j->next_definition.reset();
  touch(*j);
  return true;
}

bool engine::core::set_paused(std::string_view name, bool paused) {
  job* const j = find(name);
  if (j == nullptr || j->removing || stopping_) return false;
  j->told.pause = paused;
  touch(*j);
  return true;
}

bool engine::core::trigger(std::string_view name, const std::string& run_id) {
  job* const j = find(name);
  if (j == nullptr || j->removing || stopping_) return false;
  j->told.requests.push_back({run_id, {}});
  touch(*j);
  return true;
}

bool engine::core::cancel(std::string_view run_id) {
  for (const auto& [name, j] : jobs_) {
    for (const auto& run : j->runs) {
      if (run->record.run_id != run_id) continue;
      j->told.cancels.push_back(run->id);
      touch(*j);
      return true;
    }
  }
  return false;
}

std::string engine::core::new_run_id() {
  random_port& random = loop_.where().random();
  const std::uint64_t high = random.next();
  return make_ulid(clocks_.now().wall, high, random.next());
}

void engine::core::confirm_wall_clock() {
  if (!started_ || !wall_trusted_from_) return;
  const moment now = clocks_.now();
  become_plausible(now, schedule::wall_step{*wall_trusted_from_, now.wall});
  schedule_evaluation();
}

std::optional<job_status> engine::core::status(std::string_view name) const {
  const job* const j = find(name);
  if (j == nullptr) return std::nullopt;
  job_status s;
  s.name = j->name;
  s.enabled = j->definition.enabled;
  s.paused = j->state.paused;
  s.runs = j->runs_ended;
  s.failures = j->failures;
  s.last_error = j->last_error;
  s.last_start = j->last_start;
  s.last_duration = j->last_duration;
  s.next_due = j->next_due;
  for (const auto& run : j->runs) s.active.push_back(run->record.run_id);
  const instant elapsed = clocks_.now().elapsed;
  s.waiting = waiting_of(*j, elapsed);
  if (due_and_waits(*j, elapsed)) s.next_due.reset();
  s.recent.assign(j->recent.begin(), j->recent.end());
  s.since_start = j->since_start;
  return s;
}

std::vector<std::string> engine::core::names() const {
  std::vector<std::string> all;
  for (const auto& [name, j] : jobs_) {
    if (!j->removing) all.push_back(name);
  }
  return all;
}

statistics engine::core::statistics() const {
  looptask::engine::statistics s;
  s.jobs = jobs_.size();
  s.running = active_;
  const instant elapsed = clocks_.now().elapsed;
  for (const auto& [name, j] : jobs_) {
    s.waiting += waiting_of(*j, elapsed);
    s.between_attempts += static_cast<std::uint32_t>(
        std::ranges::count(j->state.active, schedule::run_phase::backing_off, &schedule::active_run::phase));
  }
  s.evaluations = evaluations_;
  s.batches = journal_.submitted();
  s.ledger_trouble = journal_.troubled();
  s.wall_clock_plausible = !wall_trusted_from_;
  s.total = total_;
  return s;
}

engine::engine(loop& home, ledger::store& history, options how, listener& told)
    : core_(std::make_unique<core>(home, history, how, told)) {}
engine::~engine() = default;

void engine::add(schedule::job_definition what, std::shared_ptr<job_body> body) {
  core_->add(std::move(what), std::move(body));
}
bool engine::remove(std::string_view job) { return core_->remove(job); }
bool engine::pause(std::string_view job) { return core_->set_paused(job, true); }
bool engine::resume(std::string_view job) { return core_->set_paused(job, false); }
bool engine::trigger(std::string_view job, const std::string& run_id) { return core_->trigger(job, run_id); }
std::string engine::new_run_id() { return core_->new_run_id(); }
bool engine::cancel(std::string_view run_id) { return core_->cancel(run_id); }
void engine::start() { core_->start(); }
void engine::stop(unique_function<void(stop_report)> done) { core_->stop(std::move(done)); }
bool engine::stopping() const noexcept { return core_->stopping(); }
void engine::confirm_wall_clock() { core_->confirm_wall_clock(); }
std::optional<job_status> engine::status(std::string_view job) const { return core_->status(job); }
std::vector<std::string> engine::jobs() const { return core_->names(); }
std::vector<ledger::run_record> engine::runs(const ledger::run_query& what) { return core_->history().runs(what); }
looptask::engine::statistics engine::statistics() const { return core_->statistics(); }

}  // namespace looptask::engine
