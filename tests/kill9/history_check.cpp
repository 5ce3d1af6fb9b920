#include "kill9/history_check.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace looptask::tests {
namespace {

std::string name_of(const ledger::run_record& record) {
  return record.key.job + " at " + std::to_string(record.key.nominal.time_since_epoch().count()) + " us";
}

std::vector<ledger::run_record> scheduled(const std::vector<ledger::run_record>& records, const std::string& job) {
  std::vector<ledger::run_record> out;
  for (const auto& record : records) {
    if (record.key.job == job && record.key.kind == run_kind::schedule) out.push_back(record);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return out;
}

// The wall clock of a record and the elapsed timeline of the schedule are read one after the other; on a loaded machine another
// process may run in between.
constexpr microseconds clock_grain = std::chrono::milliseconds(10);
// An interrupted run ended, for its job, at the last durable sign of life, which may lie before its start; no record says that
// a run ended before it started.
constexpr microseconds heartbeat = std::chrono::seconds(1);

class judge {
 public:
  explicit judge(std::vector<std::string>& violations) : violations_(violations) {}

  void grid(const std::vector<ledger::run_record>& records, microseconds interval) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto& one = records[i];
      const instant last = one.slots > 1 ? one.nominal_last : one.key.nominal;
      const auto span = last - one.key.nominal;
      if (span != interval * static_cast<std::int64_t>(one.slots - 1)) {
        say(name_of(one) + ": a range of " + std::to_string(one.slots) + " slots covers " + std::to_string(span.count()) +
            " us");
      }
      if (i + 1 == records.size()) continue;
      const auto& next = records[i + 1];
      const auto step = next.key.nominal - last;
      if (step <= microseconds(0)) {
        say(name_of(next) + ": has two outcomes");
      } else if (step % interval != microseconds(0)) {
        say(name_of(next) + ": the grid lost its phase");
      } else if (step != interval) {
        say(name_of(one) + ": " + std::to_string(step / interval - 1) + " slots after it have no outcome");
      }
    }
  }

  void follows(const std::vector<ledger::run_record>& records, microseconds interval, bool from_end) {
    for (std::size_t i = 0; i + 1 < records.size(); ++i) {
      const auto& one = records[i];
      const auto& next = records[i + 1];
      const std::optional<instant>& base = from_end ? one.ended : one.started;
      if (one.outcome != slot_outcome::ran || !base) {
        say(name_of(one) + ": is not a run, and end and start have no other slots");
        continue;
      }
      const microseconds off = next.key.nominal - *base - interval;
      const bool interrupted = from_end && one.result == run_result::interrupted;
      if (off > clock_grain || off < (interrupted ? -heartbeat : -clock_grain)) {
        say(name_of(next) + ": is " + std::to_string(off.count()) + " us off the interval after the run before, which was " +
            (one.result ? std::string(to_string(*one.result)) : std::string("open")));
      }
    }
  }

  void say(std::string what) { violations_.push_back(std::move(what)); }

 private:
  std::vector<std::string>& violations_;
};

}  // namespace

std::vector<std::string> check_slots(const std::vector<ledger::run_record>& records,
                                     const std::map<std::string, judged_job>& jobs) {
  std::vector<std::string> violations;
  judge j(violations);
  std::set<run_key> keys;
  std::set<std::string> waiting;
  for (const auto& record : records) {
    if (!keys.insert(record.key).second) j.say(name_of(record) + ": two records with one key");
    if (jobs.count(record.key.job) == 0) j.say(name_of(record) + ": there is no such job");
    if (record.phase == ledger::record_phase::waiting) {
      if (!waiting.insert(record.key.job).second) j.say(name_of(record) + ": a second slot of its job that waits");
      continue;
    }
    if (record.phase == ledger::record_phase::open) j.say(name_of(record) + ": is open");
    if (record.outcome != slot_outcome::ran) continue;
    if (!record.result) j.say(name_of(record) + ": ran without a result");
    if (record.attempts.empty() && record.result != run_result::start_failed) j.say(name_of(record) + ": ran without attempt");
  }
  for (const auto& [name, job] : jobs) {
    const auto own = scheduled(records, name);
    if (own.empty()) j.say(name + ": has no record at all");
    if (job.how == judged_job::slots::grid) {
      j.grid(own, job.interval);
    } else {
      j.follows(own, job.interval, job.how == judged_job::slots::from_end);
    }
  }
  return violations;
}

std::vector<std::string> check_side_log(const std::vector<ledger::run_record>& records, const std::vector<side_line>& lines) {
  std::vector<std::string> violations;
  judge j(violations);
  std::map<std::string, const ledger::run_record*> by_run;
  for (const auto& record : records) {
    if (!record.run_id.empty()) by_run[record.run_id] = &record;
  }
  using attempt = std::pair<std::string, std::string>;  // run id, number
  std::set<std::tuple<std::string, run_kind, std::string, std::string>> begun;
  std::set<attempt> ended, open;
  for (const auto& line : lines) {
    const std::string who = line.job + " " + line.nominal + " attempt " + line.attempt + " (" + line.run_id + ")";
    const auto found = by_run.find(line.run_id);
    if (found == by_run.end() || found->second->key.job != line.job) {
      j.say(who + ": the ledger has no such run");
      continue;
    }
    const attempt which{line.run_id, line.attempt};
    if (line.word == "overlap") {
      j.say(who + ": began while an earlier process of the job was alive");
    } else if (line.word == "begin") {
      if (!begun.emplace(line.job, found->second->key.kind, line.nominal, line.attempt).second) j.say(who + ": began twice");
      const auto& attempts = found->second->attempts;
      const bool claimed =
          std::any_of(attempts.begin(), attempts.end(), [&](const auto& one) { return std::to_string(one.n) == line.attempt; });
      if (!claimed) j.say(who + ": began without a record of the attempt");
      open.insert(which);
    } else {
      if (open.count(which) == 0) j.say(who + ": ended without a begin");
      if (!ended.insert(which).second) j.say(who + ": ended twice");
    }
  }
  for (const auto& record : records) {
    for (const auto& one : record.attempts) {
      if (one.result != run_result::success || ended.count({record.run_id, std::to_string(one.n)}) != 0) continue;
      j.say(name_of(record) + ": attempt " + std::to_string(one.n) + " (" + record.run_id +
            ") is a success without an end line");
    }
    if (record.result == run_result::success &&
        (record.attempts.empty() || record.attempts.back().result != run_result::success)) {
      j.say(name_of(record) + ": is a success although its last attempt is not");
    }
  }
  return violations;
}

}  // namespace looptask::tests
