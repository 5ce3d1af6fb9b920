#include "engine/journal.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace looptask::engine {
namespace {

constexpr duration first_retry = std::chrono::milliseconds(100);
constexpr duration longest_retry = std::chrono::seconds(5);

std::vector<package> by_job(package whole) {
  std::map<std::string, package> found;
  for (ledger::job_record& job : whole.batch.jobs) {
    std::string name = job.name;
    found[std::move(name)].batch.jobs.push_back(std::move(job));
  }
  for (std::string& name : whole.batch.removed_jobs) found[name].batch.removed_jobs.push_back(name);
  for (ledger::run_record& run : whole.batch.runs) {
    std::string name = run.key.job;
    found[std::move(name)].batch.runs.push_back(std::move(run));
  }
  for (pending_event& e : whole.events) {
    std::string name = e.job;
    found[std::move(name)].events.push_back(std::move(e));
  }
  for (planned_start& s : whole.starts) found[s.job].starts.push_back(s);
  if (whole.batch.clock) found[std::string()].batch.clock = whole.batch.clock;
  std::vector<package> parts;
  parts.reserve(found.size());
  for (auto& [name, part] : found) parts.push_back(std::move(part));
  return parts;
}

// Of one job. Runs first, with what follows from each; then the job, so that its watermark passes no slot without a record.
std::vector<package> by_record(package whole) {
  std::vector<package> parts;
  parts.reserve(whole.batch.runs.size() + 1);
  std::map<run_key, std::size_t> last;  // the last part that holds a record of this run
  for (ledger::run_record& run : whole.batch.runs) {
    last.insert_or_assign(run.key, parts.size());
    parts.emplace_back().batch.runs.push_back(std::move(run));
  }
  package of_job;
  of_job.batch = std::move(whole.batch);
  of_job.batch.runs.clear();
  const auto part_of = [&](const run_key& key) -> package& {
    const auto found = last.find(key);
    return found == last.end() ? of_job : parts[found->second];
  };
  for (pending_event& e : whole.events) (e.run ? part_of(e.run->key) : of_job).events.push_back(std::move(e));
  for (planned_start& s : whole.starts) {
    part_of({s.job, s.run.kind, s.run.nominal, s.run.epoch}).starts.push_back(std::move(s));
  }
  if (!of_job.empty()) parts.push_back(std::move(of_job));
  return parts;
}

}  // namespace

void journal::submit(package what) {
  ++submitted_;
  waiting_.push_back(std::move(what));
  if (!busy_) next();
}

std::uint32_t journal::runs_waiting() const noexcept {
  std::size_t count = busy_ ? current_.batch.runs.size() : 0;
  for (const package& p : waiting_) count += p.batch.runs.size();
  return static_cast<std::uint32_t>(count);
}

void journal::next() {
  if (waiting_.empty()) return;
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  busy_ = true;
  send();
}

void journal::send() {
  history_.submit(current_.batch, [this, living = std::weak_ptr<char>(living_)](const ledger::commit_error& error) {
    if (!living.expired()) done(error);
  });
}

void journal::done(const ledger::commit_error& error) {
  if (error.failed && !error.refused) {
    const duration delay = std::min(longest_retry, first_retry * (1 << std::min(failures_, 6U)));
    ++failures_;
    retry_.arm_after(delay);
    if (!std::exchange(troubled_, true)) trouble(true, error.message);
    return;
  }
  failures_ = 0;
  busy_ = false;
  package finished = std::exchange(current_, package());
  const bool healed = std::exchange(troubled_, false);
  if (error.refused) {
    current_ = std::move(finished);
    take_apart();
    finished = std::exchange(current_, package());
  }
  if (healed) trouble(false, {});
  if (!error.refused) {
    deliver(std::move(finished));
  } else if (!finished.empty()) {
    refuse(std::move(finished), error.message);
  }
  if (!busy_) next();
}

// A refused package is submitted again in parts, ahead of what waits: one for each job, then one for each record. A single
// record stays in current_: it is the one that was refused.
void journal::take_apart() {
  std::vector<package> parts = by_job(std::exchange(current_, package()));
  if (parts.size() == 1) parts = by_record(std::move(parts.front()));
  if (parts.size() == 1) {
    current_ = std::move(parts.front());
    return;
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
}

}  // namespace looptask::engine
