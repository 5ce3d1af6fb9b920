// A decision becomes records, events and planned starts. Stops are done at once: they need no record.
#include <algorithm>
#include <utility>

#include <looptask/assert.hpp>

#include "engine/core.hpp"

namespace looptask::engine {
namespace {

std::size_t index(slot_outcome outcome) { return static_cast<std::size_t>(outcome); }

std::string_view reason(schedule::stop_reason why) {
  switch (why) {
    case schedule::stop_reason::timeout:
      return "timeout";
    case schedule::stop_reason::cancelled:
      return "cancelled";
    case schedule::stop_reason::removed:
      return "removed";
    case schedule::stop_reason::shutdown:
      break;
  }
  return "shutdown";
}

}  // namespace

live_run* job::find(const schedule::slot_id& id) noexcept {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return run->id == id; });
  return found == runs.end() ? nullptr : found->get();
}

struct engine::core::hand {
  core& self;
  job& j;
  const moment& now;
  package& out;

  live_run& run_of(const schedule::slot_id& id) const {
    live_run* const run = j.find(id);
    LOOPTASK_ASSERT(run != nullptr, "a decision about a run that the engine does not have");
    return *run;
  }

  pending_event event_of(event_kind what) const {
    pending_event e;
    e.what = what;
    e.wall = now.wall;
    e.elapsed = now.elapsed;
    e.job = j.name;
    return e;
  }

  ledger::run_record record_of(const schedule::slot& slot) const {
    ledger::run_record record;
    record.key = {j.name, slot.id.kind, slot.id.nominal, slot.id.epoch};
    record.run_id = slot.run_id;
    record.due = slot.due;
    record.decided = now.wall;
    record.nominal_last = slot.id.nominal;
    return record;
  }

  void operator()(const schedule::open_run& d) const {
    auto run = std::make_unique<live_run>();
    run->id = d.what.id;
    run->record = record_of(d.what);
    if (run->record.run_id.empty()) run->record.run_id = self.new_run_id();
    run->record.phase = ledger::record_phase::open;
    run->record.started = clocks::wall_of(d.at, now);
    run->record.lateness = d.lateness;
    run->record.detail = d.detail;
    ++self.active_;
    ++j.since_start.slots[index(slot_outcome::ran)];
    ++self.total_.slots[index(slot_outcome::ran)];
    add_attempt(*run, 1, d.at);
    j.runs.push_back(std::move(run));
  }

  void operator()(const schedule::open_attempt& d) const {
    add_attempt(run_of(d.run), d.n, d.at);
    ++j.since_start.retries;
    ++self.total_.retries;
  }

  void add_attempt(live_run& run, std::uint32_t n, instant at) const {
    ledger::attempt_record attempt;
    attempt.n = n;
    attempt.started = clocks::wall_of(at, now);
    run.record.attempts.assign(1, attempt);
    run.changed.push_back(std::move(attempt));
    self.save_run(run, out);
    j.unsaved = true;
    out.starts.push_back({j.name, run.id, n});
  }

  void operator()(const schedule::note_started&) const {}  // start_attempt() does what belongs to it

  void operator()(const schedule::stop_attempt& d) const {
    live_run& run = run_of(d.run);
    pending_event e = event_of(event_kind::attempt_stopping);
    e.run = run.record;
    e.attempt = run.record.attempts.back();
    e.text = std::string(reason(d.why)) + ": " + d.detail;
    out.events.push_back(std::move(e));
    if (run.attempt == nullptr) return;
    const bool shutdown = d.why == schedule::stop_reason::shutdown;
    run.attempt->stop(*run.body, shutdown ? std::optional(self.options_.stop_kill_cap) : std::nullopt);
  }

  void operator()(const schedule::close_attempt& d) const {
    live_run& run = run_of(d.run);
    attempt_end end = std::exchange(run.ended, std::nullopt).value_or(attempt_end());
    ledger::attempt_record& attempt = run.record.attempts.back();
    attempt.ended = std::max(clocks::wall_of(d.at, now), attempt.started);
    attempt.result = d.result;
    attempt.exit_code = end.exit_code;
    attempt.signal = end.signal;
    attempt.cpu = end.cpu;
    attempt.max_rss = end.max_rss;
    attempt.output_dropped = end.output_dropped;
    ledger::attempt_record full = attempt;
    full.output_head = std::move(end.output_head);
    full.output_tail = std::move(end.output_tail);
    run.error = d.result == run_result::success ? std::string() : std::move(end.error);
    run.attempt.reset();
    if (d.result == run_result::timeout) {
      ++j.since_start.timeouts;
      ++self.total_.timeouts;
    }
    pending_event e = event_of(event_kind::attempt_ended);
    e.run = run.record;
    e.attempt = full;
    e.error = run.error;
    out.events.push_back(std::move(e));
    std::erase_if(run.changed, [&](const ledger::attempt_record& a) { return a.n == full.n; });
    run.changed.push_back(std::move(full));
  }

  void operator()(const schedule::plan_retry& d) const {
    live_run& run = run_of(d.run);
    self.save_run(run, out);
    j.unsaved = true;
    pending_event e = event_of(event_kind::retry_planned);
    e.run = run.record;
    e.attempt = run.record.attempts.back();
    e.error = run.error;
    e.text = d.detail;
    e.at = d.at;
    out.events.push_back(std::move(e));
  }

  void operator()(const schedule::close_run& d) const {
    live_run& run = run_of(d.run);
    ledger::run_record& record = run.record;
    record.phase = ledger::record_phase::closed;
    record.ended = std::max(clocks::wall_of(d.at, now), record.started.value_or(instant::min()));
    record.result = d.result;
    record.why = d.why;
    for (const std::string& part : {d.detail, run.error}) {
      if (!part.empty()) record.detail += (record.detail.empty() ? "" : "; ") + part;
    }
    self.save_run(run, out);
    count(run, d.result);
    pending_event e = event_of(event_kind::run_ended);
    e.error = run.error;
    e.run = std::move(record);
    out.events.push_back(std::move(e));
    --self.active_;
    std::erase_if(j.runs, [&](const auto& other) { return other.get() == &run; });
    j.unsaved = true;
  }

  void count(const live_run& run, run_result result) const {
    const bool failed = result != run_result::success;
    ++j.runs_ended;
    for (tally* const t : {&j.since_start, &self.total_}) {
      ++t->runs;
      t->failures += failed ? 1 : 0;
    }
    if (failed) {
      ++j.failures;
      j.last_error = !run.error.empty() ? run.error : std::string(to_string(result));
    }
    const instant ended = run.record.ended.value_or(now.wall);
    const microseconds took = ended - run.record.started.value_or(ended);
    j.last_duration = took;
    for (recent_run& r : j.recent) {
      if (r.run_id != run.record.run_id) continue;
      r.duration = took;
      r.result = result;
    }
  }

  void operator()(const schedule::hold_slot& d) const {
    ledger::run_record record = record_of(d.what);
    record.phase = ledger::record_phase::waiting;
    record.why = d.why;
    record.detail = d.detail;
    tell_of_slot(event_kind::slot_waiting, std::move(record));
  }

  void operator()(const schedule::close_slots& d) const {
    ledger::run_record record = record_of(d.first);
    record.phase = ledger::record_phase::closed;
    record.outcome = d.outcome;
    record.why = d.why;
    record.detail = d.detail;
    record.slots = d.count;
    record.nominal_last = d.last;
    j.since_start.slots[index(d.outcome)] += d.count;
    self.total_.slots[index(d.outcome)] += d.count;
    tell_of_slot(event_kind::slot_not_run, std::move(record));
  }

  void tell_of_slot(event_kind what, ledger::run_record record) const {
    pending_event e = event_of(what);
    e.text = record.detail;
    e.run = record;
    out.events.push_back(std::move(e));
    out.batch.runs.push_back(std::move(record));
    j.unsaved = true;
  }

  void operator()(const schedule::rejudge& d) const {
    j.unsaved = true;
    if (!d.detail.empty()) {
      pending_event e = event_of(event_kind::job_rejudged);
      e.text = d.detail;
      out.events.push_back(std::move(e));
    }
  }
  void operator()(const schedule::set_paused& d) const {
    j.unsaved = true;
    out.events.push_back(event_of(d.paused ? event_kind::job_paused : event_kind::job_resumed));
  }
  void operator()(const schedule::note_wall&) const {}  // goes to the ledger with the next record of the job
};

void engine::core::carry_out(job& j, const schedule::decision& what, const moment& now, package& out) {
  std::visit(hand{*this, j, now, out}, what);
}

// With the attempts that changed since it was last saved; the ledger keeps the others.
void engine::core::save_run(live_run& run, package& out) const {
  ledger::run_record record = run.record;
  record.attempts = std::exchange(run.changed, {});
  out.batch.runs.push_back(std::move(record));
}

void engine::core::save(job& j, package& out) const {
  ledger::job_record record;
  record.name = j.name;
  record.trigger = j.trigger;
  record.judged_from = j.state.judged_from;
  record.anchor = j.state.anchor;
  record.watermark = j.state.watermark;
  record.wall_high = j.state.wall_high;
  record.epoch = j.state.epoch;
  record.last_start = j.state.last_start;
  record.last_end = j.state.last_end;
  record.paused = j.state.paused;
  record.runs = j.runs_ended;
  record.failures = j.failures;
  record.last_error = j.last_error;
  out.batch.jobs.push_back(std::move(record));
}

}  // namespace looptask::engine
