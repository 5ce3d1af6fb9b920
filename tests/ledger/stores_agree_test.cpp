// Random batches against both stores: they answer alike.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "conformance.hpp"
#include "ledger/sqlite_store.hpp"
#include "temporary_directory.hpp"

namespace looptask::ledger {
namespace {

// Few jobs and few nominals, so that keys meet again.
run_record any_record() {
  run_record r;
  r.key.job = *rc::gen::element<std::string>("a", "b", "ab");
  r.key.kind = *rc::gen::element(run_kind::schedule, run_kind::manual);
  r.key.nominal = second(*rc::gen::inRange(-3, 6));
  r.key.epoch = *rc::gen::inRange(0U, 2U);
  r.phase = *rc::gen::element(record_phase::waiting, record_phase::open, record_phase::closed);
  r.outcome = *rc::gen::element(slot_outcome::ran, slot_outcome::skipped, slot_outcome::missed);
  r.run_id = *rc::gen::element<std::string>("", "x", "y");
  r.due = second(*rc::gen::inRange(0, 9));
  if (*rc::gen::arbitrary<bool>()) r.started = second(*rc::gen::inRange(0, 9));
  if (*rc::gen::arbitrary<bool>()) r.result = run_result::killed;
  if (*rc::gen::arbitrary<bool>()) {
    r.slots = 3;
    r.nominal_last = r.key.nominal + std::chrono::seconds(2);
  }
  r.detail = *rc::gen::arbitrary<std::string>();
  const int attempts = *rc::gen::inRange(0, 3);
  for (int i = 0; i < attempts; ++i) {
    const auto n = *rc::gen::inRange(1U, 4U);
    r.attempts.push_back(*rc::gen::arbitrary<bool>() ? open_attempt(n, 1) : closed_attempt(n, 2, r.detail));
  }
  return r;
}

batch any_batch() {
  batch b;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) b.runs.push_back(any_record());
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    b.jobs.push_back(some_job(*rc::gen::element<std::string>("a", "b", "c")));
    b.jobs.back().runs = *rc::gen::inRange<std::uint64_t>(0, 1000);
  }
  if (*rc::gen::inRange(0, 4) == 0) b.removed_jobs.push_back(*rc::gen::element<std::string>("a", "b", "c"));
  if (*rc::gen::inRange(0, 4) == 0) b.clock = timeline{.boot_id = "x", .offset = microseconds(*rc::gen::inRange(-9, 9))};
  return b;
}

run_query any_query() {
  run_query q;
  if (*rc::gen::arbitrary<bool>()) q.job = *rc::gen::element<std::string>("a", "b", "nobody");
  if (*rc::gen::arbitrary<bool>()) q.since = second(*rc::gen::inRange(-4, 7));
  q.limit = *rc::gen::inRange<std::size_t>(0, 5);
  q.ran_only = *rc::gen::arbitrary<bool>();
  q.with_output = *rc::gen::arbitrary<bool>();
  return q;
}

RC_GTEST_PROP(StoresAgree, OnRandomBatches, ()) {
  const temporary_directory directory(temporary_directory::in_memory());
  test_loop home;
  const auto memory = make_memory_store(home);
  auto sqlite = open_sqlite_store(directory.path(), durability::process, home);
  for (int i = *rc::gen::inRange(1, 12); i > 0; --i) {
    const batch b = any_batch();
    const commit_error one = commit(*memory, home, b);
    const commit_error other = commit(*sqlite, home, b);
    RC_ASSERT(one.failed == other.failed);
    RC_ASSERT(one.refused == other.refused);
    RC_ASSERT(one.message == other.message);
    if (*rc::gen::inRange(0, 6) == 0) {
      sqlite.reset();
      sqlite = open_sqlite_store(directory.path(), durability::process, home);
    }
    const run_query q = any_query();
    RC_ASSERT(memory->runs(q) == sqlite->runs(q));
    const snapshot left = memory->load();
    const snapshot right = sqlite->load();
    RC_ASSERT(left.clock == right.clock);
    RC_ASSERT(left.jobs == right.jobs);
    RC_ASSERT(left.unfinished == right.unfinished);
  }
}

}  // namespace
}  // namespace looptask::ledger
