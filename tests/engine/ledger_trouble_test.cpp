// A ledger that fails: nothing starts, nothing is lost, nothing needs a restart.
#include <gtest/gtest.h>

#include "engine/house.hpp"

namespace looptask::engine {
namespace {

TEST(LedgerTrouble, NothingStartsUntilItHealsAndItHealsByItself) {
  house h;
  const auto body = h.job(every("a", 1000));
  h.up();
  h.run_to(500);
  EXPECT_EQ(body->started, 1U);
  h.store->failing = true;
  h.run_to(10'500);
  EXPECT_EQ(body->started, 1U);
  EXPECT_TRUE(h.it->statistics().ledger_trouble);
  h.store->failing = false;
  h.run_to(20'500);
  EXPECT_FALSE(h.it->statistics().ledger_trouble);
  lines log = h.take();
  EXPECT_EQ(std::count_if(log.begin(), log.end(), [](const auto& l) { return l.find("ledger_trouble") != std::string::npos; }),
            1)
      << "said once, not at each try";
  EXPECT_EQ(std::count_if(log.begin(), log.end(), [](const auto& l) { return l.find("ledger_healed") != std::string::npos; }),
            1);
  std::uint64_t slots = 0;
  for (const ledger::run_record& r : h.records()) slots += r.slots;
  EXPECT_EQ(slots, 21U) << "every slot has its record";
  for (const ledger::run_record& r : h.records()) EXPECT_NE(r.outcome, slot_outcome::missed) << "late is not missed";
}

TEST(LedgerTrouble, EndsOfRunsAreKeptUntilItHeals) {
  house h;
  h.job(every("a", 60'000))->takes = ms(1000);
  h.up();
  h.run_to(500);
  h.store->failing = true;
  h.run_to(5000);
  h.store->failing = false;
  h.run_to(15'000);
  const ledger::run_record record = h.records().at(0);
  EXPECT_EQ(record.result, run_result::success);
  EXPECT_EQ(record.ended, h.at(1000));
}

TEST(LedgerTrouble, TimeoutsAreKeptAllTheSame) {
  house h;
  schedule::job_definition d = every("a", 60'000);
  d.timeout = ms(1000);
  const auto body = h.job(d);
  body->takes = microseconds::max();
  h.job(every("b", 100));
  h.up();
  h.run_to(500);
  h.store->failing = true;
  h.run_to(1001);
  EXPECT_EQ(body->stopped_with, std::chrono::seconds(10));
  h.store->failing = false;
  h.run_to(9000);
  EXPECT_EQ(h.it->status("a")->last_error, "it went wrong");
  EXPECT_EQ(h.it->status("a")->since_start.timeouts, 1U);
}

TEST(LedgerTrouble, SlotsOnTheWallClockAreLateNotStalled) {
  house h;
  schedule::job_definition d = cron("a", "* * * * * *");
  d.timeout = ms(1300);
  d.misfire = schedule::misfire_policy::skip;
  const auto body = h.job(d);
  body->takes = ms(1200);
  h.up();
  h.run_to(1100);
  body->takes = microseconds::max();
  h.run_to(3100);
  EXPECT_EQ(h.it->statistics().running, 1U);
  h.store->failing = true;
  h.run_to(12'100);
  h.store->failing = false;
  h.run_to(30'000);
  for (const ledger::run_record& r : h.records()) EXPECT_NE(r.outcome, slot_outcome::missed) << r.detail;
}

TEST(LedgerTrouble, RunsCanBeCancelledAllTheSame) {
  house h;
  const auto body = h.job(every("a", 60'000));
  body->takes = microseconds::max();
  h.job(every("b", 100));
  h.up();
  h.run_to(500);
  h.store->failing = true;
  h.run_to(700);
  h.it->cancel(h.it->status("a")->active.at(0));
  h.run_to(701);
  EXPECT_TRUE(body->stopped_with);
  h.store->failing = false;
  h.run_to(9000);
  EXPECT_EQ(h.records().back().result, run_result::cancelled);
}

TEST(LedgerTrouble, ARefusedRecordConcernsItsJobAlone) {
  house h;
  const auto bad = h.job(every("bad", 1000));
  const auto good = h.job(every("good", 1000));
  h.store->refused_job = "bad";
  h.up();
  h.run_to(2500);
  EXPECT_EQ(bad->started, 0U);
  EXPECT_EQ(good->started, 3U);
  EXPECT_FALSE(h.take("record_refused").empty());
  h.store->refused_job.reset();
  h.run_to(3500);
  EXPECT_EQ(bad->started, 1U);
  std::map<std::string, std::uint64_t> slots;
  for (const ledger::run_record& r : h.records()) slots[r.key.job] += r.slots;
  EXPECT_EQ(slots["good"], 4U) << "0 to 3 s";
  EXPECT_EQ(slots["bad"], 1U) << "all but the refused ones";
}

// The interrupted run of an earlier life, the slots missed since, and the claim of the next one come in one batch.
TEST(LedgerTrouble, ARefusedRecordTakesNoOtherOfItsJobWithIt) {
  house h;
  const auto body = h.job(every("bad", 1000));
  body->takes = ms(500);
  h.job(every("good", 1000));
  h.up();
  h.run_to(200);
  h.crash();
  h.world.pass_until(ms(5200));
  h.store->refused_run = run_key{"bad", run_kind::schedule, h.at(0), 0};
  h.take();
  h.up();
  h.run_to(5300);
  EXPECT_EQ(h.take("record_refused").size(), 1U);
  h.store->refused_run.reset();
  h.run_to(8100);
  EXPECT_EQ(body->started, 5U) << "the catch-up run and those of 6, 7 and 8 s, after the one of 0 s";
  std::map<std::string, std::map<instant, int>> slots;
  for (const ledger::run_record& r : h.records()) {
    for (instant at = r.key.nominal; at <= r.nominal_last; at += ms(1000)) ++slots[r.key.job][at];
  }
  for (const std::string job : {"bad", "good"}) {
    EXPECT_EQ(slots[job].size(), 9U) << job << ": 0 to 8 s";
    for (const auto& [at, records] : slots[job]) EXPECT_EQ(records, 1) << job;
  }
}

TEST(LedgerTrouble, ShutdownDoesNotWaitForItForEver) {
  house h;
  h.job(every("a", 1000))->takes = ms(100);
  h.up();
  h.run_to(50);
  h.store->failing = true;
  h.run_to(500);
  h.stop();
  h.run_to(60'000);
  ASSERT_TRUE(h.stopped);
  EXPECT_GE(h.stopped->runs_unrecorded, 1U);
  EXPECT_FALSE(h.stopped->message.empty());
}

}  // namespace
}  // namespace looptask::engine
