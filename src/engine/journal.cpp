#include "engine/journal.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace looptask::engine {
namespace {

constexpr duration first_retry = std::chrono::milliseconds(100);
constexpr duration longest_retry = std::chrono::seconds(5);

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

// A refused package of several jobs becomes one for each, ahead of what waits; that of a single job stays in current_.
void journal::take_apart() {
  std::map<std::string, package> by_job;
  for (ledger::job_record& job : current_.batch.jobs) {
    std::string name = job.name;
    by_job[std::move(name)].batch.jobs.push_back(std::move(job));
  }
  for (std::string& name : current_.batch.removed_jobs) by_job[name].batch.removed_jobs.push_back(name);
  for (ledger::run_record& run : current_.batch.runs) {
    std::string name = run.key.job;
    by_job[std::move(name)].batch.runs.push_back(std::move(run));
  }
  for (pending_event& e : current_.events) {
    std::string name = e.job;
    by_job[std::move(name)].events.push_back(std::move(e));
  }
  for (planned_start& s : current_.starts) by_job[s.job].starts.push_back(s);
  if (current_.batch.clock) by_job[std::string()].batch.clock = current_.batch.clock;
  current_ = package();
  if (by_job.size() == 1) {
    current_ = std::move(by_job.begin()->second);
    return;
  }
  std::vector<package> parts;
  parts.reserve(by_job.size());
  for (auto& [name, part] : by_job) parts.push_back(std::move(part));
  waiting_.insert(waiting_.begin(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
}

}  // namespace looptask::engine
