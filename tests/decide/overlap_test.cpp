// Grid slots, the overlap policies, and room in the service.
#include <gtest/gtest.h>

#include "decide/bench.hpp"

namespace looptask::schedule {
namespace {

job_definition grid(std::int64_t interval_ms, overlap_policy overlap = overlap_policy::skip) {
  job_definition d = every(interval_ms, interval_from::grid);
  d.overlap = overlap;
  return d;
}

TEST(Grid, SlotsLieOnAnchorPlusMultiplesOfTheInterval) {
  bench job(every(700, interval_from::grid, 300));
  job.at(0);
  EXPECT_EQ(job.last().wake_elapsed, at_ms(300));
  EXPECT_EQ(job.at(300), lines{"open 300"});
  EXPECT_EQ(job.ended(300, 999).at(999), lines{"end 300 success at 999"});
  EXPECT_EQ(job.at(1000), lines{"open 1000"});
}

TEST(Grid, LatenessDoesNotMoveTheGrid) {
  bench job(grid(1000));
  job.at(0);
  job.ended(0, 10).at(10);
  EXPECT_EQ(job.at(1400), lines{"open 1000"}) << "late, but nobody stood still";
  job.ended(1000, 1500).at(1500);
  EXPECT_EQ(job.last().wake_elapsed, at_ms(2000));
}

TEST(Overlap, SkipDropsASlotWhileARunIsActive) {
  bench job(grid(1000));
  job.at(0);
  EXPECT_EQ(job.at(1000), lines{"skipped 1000 overlap"});
  EXPECT_EQ(job.at(2000), lines{"skipped 2000 overlap"});
}

TEST(Overlap, ARunThatEndsInTheInstantOfASlotDoesNotOverlapIt) {
  bench job(grid(1000));
  job.at(0);
  EXPECT_EQ(job.ended(0, 1000).at(1000), (lines{"end 0 success at 1000", "open 1000"}));
}

TEST(Overlap, ARunThatWaitsForItsRetryHoldsItsPlace) {
  job_definition d = grid(1000);
  d.retry.max = 1;
  d.retry.delay = ms(1500);
  bench job(d);
  job.at(0);
  EXPECT_EQ(job.ended(0, 200, run_result::failed).at(200), lines{"retry 0#1 at 1700"});
  EXPECT_EQ(job.at(1000), lines{"skipped 1000 overlap"});
  EXPECT_EQ(job.at(1700), lines{"open 0#2"});
}

TEST(Overlap, QueueOneKeepsTheOlderSlot) {
  bench job(grid(500, overlap_policy::queue_one));
  job.at(0);
  EXPECT_EQ(job.at(500), lines{"hold 500 overlap"});
  EXPECT_EQ(job.at(1000), lines{"skipped 1000 overlap"});
  EXPECT_EQ(job.ended(0, 1200).at(1200), (lines{"end 0 success at 1200", "open 500"}));
}

TEST(Overlap, AWaitingSlotStartsBeforeTheSlotOfTheSameInstant) {
  bench job(grid(500, overlap_policy::queue_one));
  job.at(0);
  job.at(500);
  EXPECT_EQ(job.ended(0, 1000).at(1000), (lines{"end 0 success at 1000", "open 500", "hold 1000 overlap"}));
}

TEST(Overlap, ManySlotsLookedAtLateBecomeOneRange) {
  bench job(grid(10));
  EXPECT_EQ(job.at(95), (lines{"open 0", "skipped 10 overlap", "skipped 20..90 x8 overlap"}));
}

TEST(Limit, ASlotWithoutRoomHoldsTheJobsPlace) {
  bench job(grid(1000));
  job.room = 0;
  EXPECT_EQ(job.at(0), lines{"hold 0 limit"});
  EXPECT_EQ(job.last().room_from, at_ms(0));
  EXPECT_EQ(job.at(1000), lines{"skipped 1000 limit"}) << "a later slot meets overlap, with its cause";
  job.room = 1;
  EXPECT_EQ(job.at(1500), lines{"open 0"});
}

TEST(Limit, QueueOneStillQueuesOneBehindASlotWithoutRoom) {
  bench job(grid(1000, overlap_policy::queue_one));
  job.room = 0;
  job.at(0);
  EXPECT_EQ(job.at(1000), lines{"hold 1000 overlap"});
  EXPECT_EQ(job.at(2000), lines{"skipped 2000 limit"});
  job.room = 1;
  EXPECT_EQ(job.at(2100), lines{"open 0"});
  EXPECT_EQ(job.ended(0, 2200).at(2200), (lines{"end 0 success at 2200", "open 1000"}));
}

TEST(Limit, AQueuedSlotWhoseRunHasEndedHoldsThePlaceWithoutRoom) {
  bench job(grid(1000, overlap_policy::queue_one));
  job.at(0);
  job.at(1000);
  job.room = 0;
  EXPECT_EQ(job.ended(0, 1500).at(1500), (lines{"end 0 success at 1500", "hold 1000 limit"}));
  EXPECT_EQ(job.at(1600), lines{}) << "said once";
}

TEST(Limit, WaitingForRoomIsNeverAMisfire) {
  job_definition d = grid(1000);
  d.misfire = misfire_policy::skip;
  bench job(d);
  job.room = 0;
  job.at(0);
  job.room = 1;
  EXPECT_EQ(job.stalled(1000, 60'500).at(60'500), (lines{"open 0", "missed 1000..60000 x60 stalled"}));
}

TEST(Limit, AnIntervalJobWaitsForRoomWithItsDueTime) {
  bench job(every(1000, interval_from::end));
  job.room = 0;
  EXPECT_EQ(job.at(0), lines{});
  EXPECT_EQ(job.last().room_from, at_ms(0));
  EXPECT_EQ(job.last().wake_elapsed, std::nullopt) << "room wakes it, not time";
  job.room = 1;
  EXPECT_EQ(job.at(7000), lines{"open 0"});
}

TEST(Limit, ASetWallClockDoesNotChangeSinceWhenASlotWaitsForRoom) {
  bench job(cron("* * * * *"));
  job.room = 0;
  EXPECT_EQ(job.at(60'500), lines{"hold 60000 limit"});
  EXPECT_EQ(job.last().room_from, at_ms(60'000));
  job.wall_jumped(-7'200'000, 61'000).at(61'000);
  EXPECT_EQ(job.last().room_from, at_ms(60'000));
  job.wall_jumped(7'200'000, 62'000).at(62'000);
  EXPECT_EQ(job.last().room_from, at_ms(60'000));
}

TEST(Limit, ARequestByHandTakesItsTurnByElapsedTime) {
  bench job(every(5000, interval_from::end));
  job.room = 0;
  job.wall_jumped(3'600'000, 100);  // by the wall clock the request is an hour younger than the slot
  job.at(100);
  job.asked("A").at(200);
  EXPECT_EQ(job.last().room_from, at_ms(0));
  job.wall_jumped(-7'200'000, 300).at(300);  // and now an hour older
  job.room = 1;
  EXPECT_EQ(job.at(400), lines{"open 0"});
}

TEST(Limit, AWaitingSlotThatLiesAheadAgainAfterARebootWaitsForItsTime) {
  bench job(grid(1000, overlap_policy::queue_one));
  job.at(0);
  job.at(1000);
  EXPECT_EQ(job.down(950, 900).at(950), lines{"end 0 interrupted at 900 down"}) << "elapsed time went back to the last sign";
  EXPECT_EQ(job.last().wake_elapsed, at_ms(1000));
  EXPECT_EQ(job.last().room_from, std::nullopt);
  EXPECT_EQ(job.at(1000), lines{"open 1000"});
}

TEST(Limit, WhatWaitsForABelievableClockAsksForNoRoom) {
  bench job(cron("* * * * *"));
  job.room = 0;
  job.at(60'000);
  job.plausible = false;
  EXPECT_EQ(job.down(70'000, 60'500).at(70'000), lines{});
  EXPECT_EQ(job.last().room_from, std::nullopt);
}

TEST(Limit, ARetryNeedsNoRoomOfItsOwn) {
  job_definition d = grid(100'000);
  d.retry.max = 1;
  d.retry.delay = ms(100);
  bench job(d);
  job.at(0);
  job.ended(0, 50, run_result::failed).at(50);
  job.room = 0;
  EXPECT_EQ(job.at(150), lines{"open 0#2"});
}

}  // namespace
}  // namespace looptask::schedule
