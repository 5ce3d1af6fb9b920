// On time, late, missed: outages, the misfire policies, and the grace.
#include <gtest/gtest.h>

#include "decide/bench.hpp"

namespace looptask::schedule {
namespace {

job_definition grid(misfire_policy misfire, std::int64_t grace_ms = 0, overlap_policy overlap = overlap_policy::skip) {
  job_definition d = every(1000, interval_from::grid);
  d.misfire = misfire;
  d.misfire_grace = ms(grace_ms);
  d.overlap = overlap;
  return d;
}

// A job whose run of slot 0 has ended.
bench idle(job_definition d) {
  bench job(std::move(d));
  job.at(0);
  job.ended(0, 10).at(10);
  return job;
}

TEST(Misfire, SkipDropsAllMissedSlotsAsOneRange) {
  bench job = idle(grid(misfire_policy::skip));
  EXPECT_EQ(job.down(4500, 20).at(4500), lines{"missed 1000..4000 x4 down"});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(5000));
}

TEST(Misfire, SkipRunsTheSlotExactlyAtTheReturn) {
  bench job = idle(grid(misfire_policy::skip));
  EXPECT_EQ(job.down(4000, 20).at(4000), (lines{"missed 1000..3000 x3 down", "open 4000"}));
}

TEST(Misfire, RunOnceStandsForAllWithTheLatest) {
  bench job = idle(grid(misfire_policy::run_once));
  EXPECT_EQ(job.down(4500, 20).at(4500), (lines{"coalesced 1000..3000 x3 coalesced", "open 4000"}));
}

TEST(Misfire, RunOnceCarriesTheSlotExactlyAtTheReturn) {
  bench job = idle(grid(misfire_policy::run_once));
  EXPECT_EQ(job.down(4000, 20).at(4000), (lines{"coalesced 1000..3000 x3 coalesced", "open 4000"}));
}

TEST(Misfire, RunOnceOfASingleMissedSlotRunsIt) {
  bench job = idle(grid(misfire_policy::run_once));
  EXPECT_EQ(job.down(1500, 20).at(1500), lines{"open 1000"});
}

TEST(Misfire, NothingMissedMeansNothingToDo) {
  bench job = idle(grid(misfire_policy::run_once));
  EXPECT_EQ(job.down(900, 20).at(900), lines{});
}

TEST(Misfire, TheTriggerMeetsOverlapLikeAnySlot) {
  bench job(grid(misfire_policy::run_once));
  job.at(0);
  EXPECT_EQ(job.stalled(1000, 3500).at(3500), (lines{"coalesced 1000..2000 x2 coalesced", "skipped 3000 overlap"}));
  bench queueing(grid(misfire_policy::run_once, 0, overlap_policy::queue_one));
  queueing.at(0);
  EXPECT_EQ(queueing.stalled(1000, 3500).at(3500), (lines{"coalesced 1000..2000 x2 coalesced", "hold 3000 overlap"}));
}

TEST(Misfire, PolicyIsAppliedOnceAndLaterSlotsAreOnTime) {
  bench job = idle(grid(misfire_policy::skip));
  EXPECT_EQ(job.stalled(1000, 2500).at(3000), (lines{"missed 1000..2000 x2 stalled", "open 3000"}))
      << "3000 came due after the return, while the ledger was slow";
}

TEST(Misfire, ASlotDueBeforeTheStallIsLateNotMissed) {
  bench job = idle(grid(misfire_policy::skip));
  EXPECT_EQ(job.stalled(2000, 3500).at(3500), (lines{"open 1000", "missed 2000..3000 x2 stalled"}));
}

TEST(Grace, ASingleSlotYoungerThanTheGraceIsLate) {
  bench job = idle(grid(misfire_policy::skip, 600));
  EXPECT_EQ(job.down(1599, 20).at(1599), lines{"open 1000"});
}

TEST(Grace, ASlotAsOldAsTheGraceIsMissed) {
  bench job = idle(grid(misfire_policy::skip, 600));
  EXPECT_EQ(job.down(1600, 20).at(1600), lines{"missed 1000 down"});
}

TEST(Grace, TwoMissedSlotsGoToThePolicyHoweverYoung) {
  bench job = idle(grid(misfire_policy::skip, 5000));
  EXPECT_EQ(job.down(2001, 20).at(2001), lines{"missed 1000..2000 x2 down"});
}

TEST(Grace, LateWithoutAnOutageRunsHoweverLate) {
  bench job = idle(grid(misfire_policy::skip, 100));
  EXPECT_EQ(job.at(1999), lines{"open 1000"});
}

TEST(Restart, WaitingSlotsAreMissedAndJoinThePolicy) {
  bench job(grid(misfire_policy::run_once, 0, overlap_policy::queue_one));
  job.at(0);
  job.at(1000);
  EXPECT_EQ(job.down(3500, 1500).at(3500),
            (lines{"end 0 interrupted at 1500 down", "coalesced 1000 coalesced", "coalesced 2000 coalesced", "open 3000"}));
}

TEST(Restart, ALoneWaitingSlotIsTheOneThatRunsOnce) {
  bench job(grid(misfire_policy::run_once, 0, overlap_policy::queue_one));
  job.at(0);
  job.at(1000);
  EXPECT_EQ(job.down(1600, 1500).at(1600), (lines{"end 0 interrupted at 1500 down", "open 1000"}));
}

TEST(Restart, WaitingSlotsAreDroppedBySkip) {
  bench job(grid(misfire_policy::skip, 0, overlap_policy::queue_one));
  job.at(0);
  job.at(1000);
  EXPECT_EQ(job.down(1600, 1500).at(1600), (lines{"end 0 interrupted at 1500 down", "missed 1000 down"}));
}

TEST(Restart, TwoMillionMissedSlotsAreOneRecord) {
  job_definition d = every(1, interval_from::grid);
  d.misfire = misfire_policy::skip;
  bench job(d);
  job.at(0);
  job.ended(0, 0).at(0);
  EXPECT_EQ(job.down(2'000'001, 0).at(2'000'001), (lines{"missed 1..2000000 x2000000 down", "open 2000001"}));
}

TEST(Restart, AYearOfMissedSecondsOfACronJobIsOneRecord) {
  job_definition d = cron("* * * * * *");
  d.misfire = misfire_policy::skip;
  bench job(d);
  const std::int64_t year = std::int64_t{365} * 86'400'000;
  EXPECT_EQ(job.down(year + 500, 0).at(year + 500), lines{"missed 1000..31536000000 x31536000 down"});
}

TEST(At, InTheFutureRunsOnItsInstant) {
  bench job(at(60'000));
  job.at(0);
  EXPECT_EQ(job.last().wake_wall, at_ms(60'000));
  EXPECT_EQ(job.at(60'000), lines{"open 60000"});
  EXPECT_EQ(job.ended(60'000, 60'500).at(60'500), lines{"end 60000 success at 60500"});
  EXPECT_EQ(job.last().wake_wall, std::nullopt);
}

TEST(At, EqualToTheCreationIsOnTime) {
  bench job(at(0));
  EXPECT_EQ(job.down(0, 0).at(0), lines{"open 0"});
}

TEST(At, BeforeTheCreationIsMissedAndNeverRuns) {
  for (const misfire_policy misfire : {misfire_policy::skip, misfire_policy::run_once}) {
    for (const std::int64_t when : {-3'600'000, -1}) {
      job_definition d = at(when);
      d.misfire = misfire;
      d.misfire_grace = ms(1000);
      bench job(d);
      EXPECT_EQ(job.down(0, 0).at(0), lines{"missed " + std::to_string(when) + " down"});
      EXPECT_EQ(job.at(5), lines{}) << "said once";
    }
  }
}

TEST(At, BeforeTheCreationDoesNotRunEitherWhenTheClockIsSetMeanwhile) {
  bench job(at(-3'600'000));
  EXPECT_EQ(job.wall_jumped(5000, 100).at(100), lines{"missed -3600000 down"});
}

TEST(At, AfterTheCreationButMissedWhileDownIsLeftToThePolicy) {
  job_definition d = at(60'000);
  d.misfire = misfire_policy::run_once;
  bench job(d);
  job.at(0);
  EXPECT_EQ(job.down(3'600'000, 10).at(3'600'000), lines{"open 60000"});
}

TEST(At, EditedIntoThePastIsNoSlotAndSaysSo) {
  bench job(at(60'000));
  job.at(0);
  job.edit(at(500), 1000);
  EXPECT_NE(std::get<rejudge>(job.last().decisions.back()).detail.find("never runs"), std::string::npos);
  EXPECT_EQ(job.at(2000), lines{});
}

}  // namespace
}  // namespace looptask::schedule
