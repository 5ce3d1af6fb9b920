#include "conformance.hpp"

#include <stdexcept>

namespace looptask::ledger {
namespace {

std::vector<std::string> run_ids(const std::vector<run_record>& records) {
  std::vector<std::string> ids;
  for (const run_record& each : records) ids.push_back(each.run_id);
  return ids;
}

using ids = std::vector<std::string>;

TEST_P(StoreConformance, AnEmptyLedgerHoldsNothing) {
  const snapshot now = ledger->load();
  EXPECT_FALSE(now.clock);
  EXPECT_FALSE(now.alive);
  EXPECT_TRUE(now.jobs.empty());
  EXPECT_TRUE(now.unfinished.empty());
  EXPECT_TRUE(everything(*ledger).empty());
}

TEST_P(StoreConformance, DoneIsNeverCalledInsideSubmit) {
  bool inside = true;
  bool called = false;
  ledger->submit(of(open_run("a", 1)), [&](commit_error) {
    EXPECT_FALSE(inside);
    called = true;
  });
  inside = false;
  EXPECT_FALSE(called);
  home.run_until([&] { return called; });
}

TEST_P(StoreConformance, DoneIsCalledInTheOrderSubmitted) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    ledger->submit(of(open_run("a", i)), [&order, i](commit_error error) {
      EXPECT_FALSE(error.failed) << error.message;
      order.push_back(i);
    });
    if (i % 7 == 0) home->run_once();
  }
  home.run_until([&] { return order.size() == 100; });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(StoreConformance, AnEmptyBatchIsDoneInItsTurn) {
  std::vector<int> order;
  ledger->submit(of(open_run("a", 1)), [&](commit_error) { order.push_back(1); });
  ledger->submit(batch{}, [&](commit_error error) {
    EXPECT_FALSE(error.failed);
    order.push_back(2);
  });
  home.run_until([&] { return order.size() == 2; });
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(StoreConformance, WhatIsDoneIsReadAndSurvives) {
  const run_record written = closed_run("a", 5);
  bool read = false;
  ledger->submit(of(written), [&](commit_error) {
    EXPECT_EQ(everything(*ledger), std::vector{written});
    read = true;
  });
  home.run_until([&] { return read; });
  reopen();
  EXPECT_EQ(everything(*ledger), std::vector{written});
}

TEST_P(StoreConformance, EveryFieldOfARecordIsKept) {
  run_record full = closed_run("näme.1", 9, run_result::timeout);
  full.key.kind = run_kind::manual;
  full.key.epoch = 4'000'000'000;
  full.key.nominal += microseconds(7);
  full.nominal_last = full.key.nominal;
  full.why = cause::leftover;
  full.lateness = microseconds(-3);
  attempt_record by_signal = open_attempt(2, 11);
  by_signal.signal = 9;
  by_signal.process.reset();
  full.attempts.push_back(by_signal);
  run_record range = skipped_slot("range", 20, cause::down);
  range.outcome = slot_outcome::missed;
  range.slots = 1'000'000'000'000;
  range.nominal_last = second(5000);
  commit_well(of({full, range}));
  reopen();
  EXPECT_EQ(everything(*ledger), (std::vector{range, full}));
}

TEST_P(StoreConformance, DestroyingAStoreMakesItsBatchesDurableAndCallsNoDone) {
  bool called = false;
  for (int i = 0; i < 20; ++i) ledger->submit(of(open_run("a", i)), [&](commit_error) { called = true; });
  ledger.reset();
  home.settle();
  EXPECT_FALSE(called);
  ledger = place->open(home);
  EXPECT_EQ(everything(*ledger).size(), place->survives_its_store() ? 20U : 0U);
}

TEST_P(StoreConformance, ARecordWithTheSameKeyReplacesTheOldOne) {
  run_record record = waiting_run("a", 1);
  commit_well(of(record));
  record = open_run("a", 1);
  record.why = cause::limit;
  commit_well(of(record));
  EXPECT_EQ(everything(*ledger), std::vector{record});
}

TEST_P(StoreConformance, EachPartOfTheKeyTellsRecordsApart) {
  run_record record = open_run("a", 1);
  std::vector<run_record> all{record};
  record.key.kind = run_kind::manual;
  all.push_back(record);
  record.key.epoch = 1;
  all.push_back(record);
  record.key.job = "b";
  all.push_back(record);
  commit_well(of(all));
  EXPECT_EQ(everything(*ledger).size(), 4U);
}

TEST_P(StoreConformance, ABatchMayNameAKeyTwiceTheLaterCounts) {
  run_record first = waiting_run("a", 1);
  run_record second_form = closed_run("a", 1);
  commit_well(of({first, second_form}));
  EXPECT_EQ(everything(*ledger), std::vector{second_form});
}

TEST_P(StoreConformance, AttemptsAreReplacedByNumberAndNeverVanish) {
  run_record record = open_run("a", 1);
  record.attempts = {open_attempt(1, 1)};
  commit_well(of(record));
  record.attempts = {closed_attempt(1, 1, "first")};
  commit_well(of(record));
  record.attempts = {open_attempt(2, 3)};
  commit_well(of(record));
  record.attempts = {};
  commit_well(of(record));
  record.attempts = {closed_attempt(1, 1, "first"), open_attempt(2, 3)};
  EXPECT_EQ(everything(*ledger), std::vector{record});
  reopen();
  EXPECT_EQ(ledger->load().unfinished, std::vector{record});
}

TEST_P(StoreConformance, AClosedRecordIsNeverChanged) {
  const run_record closed = closed_run("a", 1);
  commit_well(of(closed));
  run_record again = closed;
  again.result = run_result::failed;
  again.attempts.push_back(open_attempt(2, 5));
  const commit_error error = commit(*ledger, home, of({open_run("b", 1), again, open_run("c", 1)}));
  EXPECT_TRUE(error.failed);
  EXPECT_TRUE(error.refused);
  EXPECT_NE(error.message.find("job a"), std::string::npos) << error.message;
  EXPECT_EQ(everything(*ledger), std::vector{closed});
  EXPECT_EQ(ledger->statistics().errors, 1U);
}

TEST_P(StoreConformance, ARecordClosedByItsOwnBatchIsClosed) {
  const commit_error error = commit(*ledger, home, of({closed_run("a", 1), open_run("a", 1)}));
  EXPECT_TRUE(error.refused);
  EXPECT_TRUE(everything(*ledger).empty());
}

TEST_P(StoreConformance, ARefusedBatchLeavesNothingOfItselfAndSparesTheOthers) {
  commit_well(of(closed_run("a", 1)));
  std::vector<bool> failed;
  const auto note = [&failed](commit_error error) { failed.push_back(error.failed); };
  ledger->submit(of(open_run("before", 1)), note);
  batch bad = of({open_run("bad", 1), open_run("a", 1)});
  bad.clock = timeline{.boot_id = "never", .offset = microseconds(1)};
  bad.jobs.push_back(some_job("bad"));
  ledger->submit(std::move(bad), note);
  ledger->submit(of(open_run("after", 1)), note);
  home.run_until([&] { return failed.size() == 3; });
  EXPECT_EQ(failed, (std::vector<bool>{false, true, false}));
  EXPECT_FALSE(ledger->load().clock);
  EXPECT_TRUE(ledger->load().jobs.empty());
  EXPECT_EQ(ledger->load().unfinished, (std::vector{open_run("before", 1), open_run("after", 1)}));
}

TEST_P(StoreConformance, ASnapshotHoldsWhatARestartNeeds) {
  batch first = of({open_run("b", 2), waiting_run("a", 3), closed_run("a", 1), skipped_slot("a", 2)});
  first.clock = timeline{.boot_id = "boot-1", .offset = microseconds(-17)};
  first.jobs = {some_job("b"), some_job("a")};
  commit_well(std::move(first));
  ledger->alive(second(77));
  commit_well(of(open_run("c", 1)));
  reopen();
  const snapshot now = ledger->load();
  EXPECT_EQ(now.clock, (timeline{.boot_id = "boot-1", .offset = microseconds(-17)}));
  EXPECT_EQ(now.alive, second(77));
  EXPECT_EQ(now.jobs, (std::vector{some_job("a"), some_job("b")}));
  EXPECT_EQ(now.unfinished, (std::vector{open_run("b", 2), waiting_run("a", 3), open_run("c", 1)}));
}

TEST_P(StoreConformance, UnfinishedRecordsKeepTheOrderOfDecision) {
  commit_well(of({waiting_run("z", 9), waiting_run("a", 1), waiting_run("m", 5)}));
  commit_well(of(open_run("z", 9)));
  commit_well(of(closed_run("a", 1)));
  reopen();
  EXPECT_EQ(ledger->load().unfinished, (std::vector{open_run("z", 9), waiting_run("m", 5)}));
}

TEST_P(StoreConformance, AJobRecordIsReplacedByName) {
  batch b;
  b.jobs = {some_job("a")};
  commit_well(b);
  b.jobs[0].watermark = second(1000);
  b.jobs[0].last_start.reset();
  b.jobs[0].last_end = second(12);
  commit_well(b);
  reopen();
  EXPECT_EQ(ledger->load().jobs, b.jobs);
}

TEST_P(StoreConformance, TheRunRecordsOfARemovedJobStay) {
  batch b = of(closed_run("a", 1));
  b.jobs = {some_job("a"), some_job("b")};
  commit_well(std::move(b));
  batch removal;
  removal.removed_jobs = {"a", "never there"};
  commit_well(std::move(removal));
  reopen();
  EXPECT_EQ(ledger->load().jobs, std::vector{some_job("b")});
  EXPECT_EQ(everything(*ledger), std::vector{closed_run("a", 1)});
}

TEST_P(StoreConformance, ASignOfLifeNeedsNoBatch) {
  ledger->alive(second(1));
  ledger->alive(second(2));
  reopen();
  if (place->survives_its_store()) {
    EXPECT_EQ(ledger->load().alive, second(2));
  }
  EXPECT_FALSE(ledger->load().clock);
}

TEST_P(StoreConformance, RunsComeNewestNominalFirstThenLatestDecision) {
  run_record by_hand = open_run("a", 2);
  by_hand.key.kind = run_kind::manual;
  by_hand.run_id = "manual";
  commit_well(of({open_run("a", 2), open_run("a", 3), open_run("b", 1)}));
  commit_well(of(by_hand));
  commit_well(of(closed_run("a", 2)));  // changes nothing about when it was decided
  EXPECT_EQ(run_ids(ledger->runs({})), (ids{"a-3", "manual", "a-2", "b-1"}));
}

TEST_P(StoreConformance, AQueryChoosesByJobTimeNumberAndOutcome) {
  run_record missed = skipped_slot("a", 4, cause::down);
  missed.run_id = "missed";
  run_record waits = waiting_run("a", 5);
  waits.run_id = "waits";
  commit_well(
      of({closed_run("a", 1), closed_run("a", 2), closed_run("a", 3), missed, waits, open_run("b", 2), closed_run("ab", 6)}));
  EXPECT_EQ(run_ids(ledger->runs({.job = "a"})), (ids{"a-3", "a-2", "a-1"}));
  EXPECT_EQ(run_ids(ledger->runs({.job = "a", .ran_only = false})), (ids{"waits", "missed", "a-3", "a-2", "a-1"}));
  EXPECT_EQ(run_ids(ledger->runs({.job = "a", .since = second(2)})), (ids{"a-3", "a-2"}));
  EXPECT_EQ(run_ids(ledger->runs({.limit = 2})), (ids{"ab-6", "a-3"}));
  EXPECT_EQ(run_ids(ledger->runs({.job = "a", .since = second(2), .limit = 3, .ran_only = false})),
            (ids{"waits", "missed", "a-3"}));
  EXPECT_EQ(run_ids(ledger->runs({.job = "nobody"})), ids{});
}

TEST_P(StoreConformance, OutputIsReadOnlyOnRequest) {
  const run_record kept = closed_run("a", 1);
  commit_well(of(kept));
  const std::vector<run_record> without = ledger->runs({});
  ASSERT_EQ(without.size(), 1U);
  EXPECT_EQ(without[0].attempts[0].output_head, "");
  EXPECT_EQ(without[0].attempts[0].output_tail, "");
  EXPECT_EQ(without[0].attempts[0].output_dropped, 12U);
  EXPECT_EQ(ledger->runs({.with_output = true}), std::vector{kept});
}

TEST_P(StoreConformance, AVisitEndsWhenTheVisitorHasEnough) {
  commit_well(of({closed_run("a", 1), closed_run("a", 2), closed_run("a", 3)}));
  int seen = 0;
  ledger->visit_runs({}, [&seen](run_record) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
  commit_well(of(closed_run("a", 4)));  // nothing is left locked
  EXPECT_EQ(ledger->runs({}).size(), 4U);
}

TEST_P(StoreConformance, ARangeOfSlotsIsOneRecord) {
  run_record range = skipped_slot("a", 10, cause::down);
  range.outcome = slot_outcome::missed;
  range.slots = 11;
  range.nominal_last = second(20);
  commit_well(of(range));
  EXPECT_TRUE(ledger->runs({}).empty());
  EXPECT_EQ(everything(*ledger), std::vector{range});
  EXPECT_TRUE(commit(*ledger, home, of(range)).refused);
}

TEST_P(StoreConformance, AnExceptionInDoneGoesOnAndCostsNobodyElseHis) {
  int done = 0;
  int reported = 0;
  home->on_error([&](std::exception_ptr) { ++reported; });
  ledger->submit(of(open_run("a", 1)), [&](commit_error) {
    ++done;
    throw std::runtime_error("from done");
  });
  ledger->submit(of(open_run("a", 2)), [&](commit_error) { ++done; });
  ledger->submit(of(open_run("a", 3)), [&](commit_error) { ++done; });
  home.run_until([&] { return done == 3; });
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(everything(*ledger).size(), 3U);
}

TEST_P(StoreConformance, DoneMayDestroyTheStore) {
  bool second_called = false;
  bool destroyed = false;
  ledger->submit(of(open_run("a", 1)), [&](commit_error) {
    ledger.reset();
    destroyed = true;
  });
  ledger->submit(of(open_run("a", 2)), [&](commit_error) { second_called = true; });
  home.run_until([&] { return destroyed; });
  home.settle();
  EXPECT_FALSE(second_called);
}

TEST_P(StoreConformance, DoneMaySubmitAgain) {
  int done = 0;
  for (int i = 0; i < 3; ++i) {
    ledger->submit(of(open_run("a", i)), [&, i](commit_error) {
      ++done;
      ledger->submit(of(closed_run("a", i)), [&](commit_error error) {
        EXPECT_FALSE(error.failed) << error.message;
        ++done;
      });
    });
  }
  home.run_until([&] { return done == 6; });
  EXPECT_TRUE(ledger->load().unfinished.empty());
}

TEST_P(StoreConformance, StatisticsCountBatchesAndCommits) {
  for (int i = 0; i < 5; ++i) commit_well(of(open_run("a", i)));
  const statistics counted = ledger->statistics();
  EXPECT_EQ(counted.batches, 5U);
  EXPECT_EQ(counted.commits, 5U);
  EXPECT_EQ(counted.errors, 0U);
}

}  // namespace
}  // namespace looptask::ledger
