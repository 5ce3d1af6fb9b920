#pragma once
// The one way to the ledger: packages of decisions, one at a time. What a package wants done or told happens after it is
// durable. A package that fails is submitted again until it succeeds; one that is refused is taken apart, down to the record
// that the ledger will never take, so that it holds up no other.
//
// Owner: the loop's thread. `deliver`, `refuse` and `trouble` are called on the loop, never inside submit().
//
//   journal to(loop, *store);
//   to.deliver = [&](package p) { start(p.starts); };
//   to.submit({.batch = std::move(records), .starts = {next}});
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/loop.hpp>
#include <looptask/timer.hpp>

#include "engine/events.hpp"
#include "ledger/ledger.hpp"
#include "schedule/state.hpp"

namespace looptask::engine {

// An event that waits for its decision to be durable.
struct pending_event {
  event_kind what;
  instant wall{};
  instant elapsed{};
  std::string job;
  std::optional<ledger::run_record> run;
  std::optional<ledger::attempt_record> attempt;
  std::string error;
  std::string text;
  instant at{};
};

// An attempt to be started once its claim is durable.
struct planned_start {
  std::string job;
  schedule::slot_id run;
  std::uint32_t n = 1;
};

struct package {
  ledger::batch batch;
  std::vector<pending_event> events;
  std::vector<planned_start> starts;

  bool empty() const noexcept { return batch.empty() && events.empty() && starts.empty(); }
};

class journal {
 public:
  journal(loop& home, ledger::store& history) : history_(history), retry_(home, *this), living_(std::make_shared<char>()) {}

  unique_function<void(package)> deliver;                            // durable: now do it
  unique_function<void(package, const std::string& why)> refuse;     // one record: the ledger will never take it
  unique_function<void(bool troubled, const std::string&)> trouble;  // it began, or it is over

  void submit(package what);
  bool idle() const noexcept { return !busy_ && waiting_.empty(); }
  bool troubled() const noexcept { return troubled_; }
  std::uint32_t runs_waiting() const noexcept;  // records of runs that are not durable yet
  std::uint64_t submitted() const noexcept { return submitted_; }

 private:
  void next();
  void retry() { send(); }
  void send();
  void done(const ledger::commit_error& error);
  void take_apart();

  ledger::store& history_;
  timer_of<&journal::retry> retry_;
  std::shared_ptr<char> living_;  // `done` of a journal that has gone does nothing
  std::deque<package> waiting_;
  package current_;
  bool busy_ = false;
  bool troubled_ = false;
  std::uint32_t failures_ = 0;  // in a row
  std::uint64_t submitted_ = 0;
};

}  // namespace looptask::engine
