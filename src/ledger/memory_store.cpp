// The ledger in memory: for libraries without a disk, for tests and for the simulator. A batch is applied inside submit();
// what it promises about `done` is kept through the inbox.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ledger/ledger.hpp"
#include "ledger/record_rules.hpp"

namespace looptask::ledger {
namespace {

struct entry {
  run_record record;
  std::uint64_t decision = 0;  // order of first submission
};

void merge_attempts(std::vector<attempt_record>& kept, std::vector<attempt_record> fresh) {
  for (attempt_record& attempt : fresh) {
    const auto place =
        std::lower_bound(kept.begin(), kept.end(), attempt.n, [](const attempt_record& a, std::uint32_t n) { return a.n < n; });
    if (place != kept.end() && place->n == attempt.n) {
      *place = std::move(attempt);
    } else {
      kept.insert(place, std::move(attempt));
    }
  }
}

void drop_output(run_record& record) noexcept {
  for (attempt_record& attempt : record.attempts) {
    attempt.output_head.clear();
    attempt.output_tail.clear();
  }
}

class memory_store final : public store {
 public:
  explicit memory_store(inbox& home) : home_(home), living_(std::make_shared<char>()) {}

  snapshot load() override {
    snapshot result{.clock = clock_, .alive = alive_, .jobs = {}, .unfinished = {}};
    result.jobs.reserve(jobs_.size());
    for (const auto& [name, job] : jobs_) result.jobs.push_back(job);
    result.unfinished.reserve(unfinished_.size());
    for (const auto& [decision, key] : unfinished_) result.unfinished.push_back(runs_.at(key).record);
    return result;
  }

  void submit(batch what, unique_function<void(commit_error)> done) override {
    ++statistics_.batches;
    commit_error outcome = apply(std::move(what));
    if (outcome.failed) {
      ++statistics_.errors;
    } else {
      ++statistics_.commits;
    }
    home_.post([living = std::weak_ptr<char>(living_), outcome = std::move(outcome), done = std::move(done)]() mutable {
      if (!living.expired()) done(std::move(outcome));
    });
  }

  void alive(instant elapsed) override { alive_ = elapsed; }

  void visit_runs(const run_query& what, unique_function<bool(run_record)> visit) override {
    std::vector<const entry*> found = select(what);
    const auto newest_first = [](const entry* a, const entry* b) {
      return std::pair(a->record.key.nominal, a->decision) > std::pair(b->record.key.nominal, b->decision);
    };
    const std::size_t wanted = what.limit == 0 ? found.size() : std::min(what.limit, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(wanted), found.end(), newest_first);
    found.resize(wanted);
    for (const entry* each : found) {
      run_record record = each->record;
      if (!what.with_output) drop_output(record);
      if (!visit(std::move(record))) return;
    }
  }

  ledger::statistics statistics() const override { return statistics_; }

 private:
  // Refused before anything is changed. A batch may hold one key twice: the second then meets what the first leaves.
  commit_error apply(batch what) {
    std::set<run_key> closing;
    for (run_record& record : what.runs) {
      normalise(record);
      const auto found = runs_.find(record.key);
      const bool closed = found != runs_.end() && found->second.record.phase == record_phase::closed;
      if (closed || closing.contains(record.key)) {
        return {.failed = true, .message = closed_record_message(record.key), .refused = true};
      }
      if (record.phase == record_phase::closed) closing.insert(record.key);
    }
    if (what.clock) clock_ = std::move(what.clock);
    for (job_record& job : what.jobs) jobs_.insert_or_assign(job.name, job);
    for (const std::string& name : what.removed_jobs) jobs_.erase(name);
    for (run_record& record : what.runs) keep(std::move(record));
    return {};
  }

  void keep(run_record record) {
    auto [place, inserted] = runs_.try_emplace(record.key);
    entry& kept = place->second;
    if (inserted) kept.decision = ++decisions_;
    const auto listed = std::pair(kept.decision, record.key);
    if (record.phase == record_phase::closed) {
      unfinished_.erase(listed);
    } else {
      unfinished_.insert(listed);
    }
    std::vector<attempt_record> attempts = std::exchange(kept.record.attempts, {});
    merge_attempts(attempts, std::exchange(record.attempts, {}));
    kept.record = std::move(record);
    kept.record.attempts = std::move(attempts);
  }

  // The key begins with the job, so the records of one job lie together.
  std::vector<const entry*> select(const run_query& what) const {
    std::vector<const entry*> found;
    auto at = what.job ? runs_.lower_bound(run_key{*what.job, run_kind::schedule, instant::min(), 0}) : runs_.begin();
    for (; at != runs_.end(); ++at) {
      const run_record& record = at->second.record;
      if (what.job && record.key.job != *what.job) break;
      if (what.since && record.key.nominal < *what.since) continue;
      if (what.ran_only && !has_run(record)) continue;
      found.push_back(&at->second);
    }
    return found;
  }

  inbox& home_;
  std::shared_ptr<char> living_;  // posted calls of `done` look whether the store is still there
  std::optional<timeline> clock_;
  std::optional<instant> alive_;
  std::map<std::string, job_record> jobs_;
  std::map<run_key, entry> runs_;
  std::set<std::pair<std::uint64_t, run_key>> unfinished_;
  std::uint64_t decisions_ = 0;
  ledger::statistics statistics_;
};

}  // namespace

std::unique_ptr<store> make_memory_store(inbox& home) { return std::make_unique<memory_store>(home); }

}  // namespace looptask::ledger
