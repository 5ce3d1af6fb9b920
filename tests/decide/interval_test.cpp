// `end` and `start`: one next run, never overlapping; a due time that has passed gives one run as soon as it can start.
#include <gtest/gtest.h>

#include "decide/bench.hpp"

namespace looptask::schedule {
namespace {

TEST(EveryFromEnd, FirstRunComesAfterTheInitialDelay) {
  bench job(every(500, interval_from::end, 250));
  EXPECT_EQ(job.at(0), lines{});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(250));
  EXPECT_EQ(job.at(250), lines{"open 250"});
}

TEST(EveryFromEnd, NextDueIsTheEndPlusTheInterval) {
  bench job(every(1000, interval_from::end));
  EXPECT_EQ(job.at(0), lines{"open 0"});
  EXPECT_EQ(job.ended(0, 300).at(300), lines{"end 0 success at 300"});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(1300));
  EXPECT_EQ(job.at(1300), lines{"open 1300"});
}

TEST(EveryFromEnd, NextDueDoesNotDependOnHowTheRunEnded) {
  for (const run_result result : {run_result::failed, run_result::start_failed}) {
    bench job(every(1000, interval_from::end));
    job.at(0);
    job.ended(0, 40, result).at(40);
    EXPECT_EQ(job.last().next_due, at_ms(1040));
  }
}

TEST(EveryFromEnd, APassedDueTimeGivesOneRunThatKeepsIt) {
  bench job(every(500, interval_from::end));
  job.at(0);
  job.ended(0, 100).at(100);
  EXPECT_EQ(job.stalled(600, 9000).at(9000), lines{"open 600"});
}

TEST(EveryFromEnd, ContinuesFromTheLastEndAfterARestart) {
  bench job(every(2000, interval_from::end));
  job.at(0);
  job.at(1);
  EXPECT_EQ(job.down(3000, 2500).at(3000), lines{"end 0 interrupted at 2500 down"});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(4500));
}

TEST(EveryFromStart, NextDueIsTheStartPlusTheInterval) {
  bench job(every(1000, interval_from::start));
  EXPECT_EQ(job.at(0), lines{"open 0"});
  EXPECT_EQ(job.ended(0, 300).at(300), lines{"end 0 success at 300"});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(1000));
}

TEST(EveryFromStart, StartsTheMomentALongRunEnds) {
  bench job(every(1000, interval_from::start));
  job.at(0);
  EXPECT_EQ(job.at(1000), lines{}) << "the run is still active";
  EXPECT_EQ(job.ended(0, 1700).at(1700), (lines{"end 0 success at 1700", "open 1000"}));
  EXPECT_EQ(job.ended(1000, 1800).at(1800), lines{"end 1000 success at 1800"});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(2700));
}

TEST(EveryFromStart, TwoPassedDueTimesGiveOneRun) {
  bench job(every(500, interval_from::start));
  job.at(0);
  job.ended(0, 100).at(100);
  EXPECT_EQ(job.stalled(500, 2100).at(2100), lines{"open 500"});
  job.ended(500, 2200).at(2200);
  EXPECT_EQ(job.last().next_due, at_ms(2600));
}

TEST(EveryFromStart, AStartThatNeverCameAboutStillCounts) {
  bench job(every(1000, interval_from::start));
  job.at(0);
  EXPECT_EQ(job.down(5000, 0).at(5000), (lines{"end 0 interrupted at 0 down", "open 1000"}));
}

TEST(Every, WallClockStepsChangeNothing) {
  for (const interval_from from : {interval_from::end, interval_from::start, interval_from::grid}) {
    bench job(every(1000, from));
    job.at(0);
    job.ended(0, 0).at(0);
    for (const std::int64_t step : {std::int64_t{86'400'000}, std::int64_t{-172'800'000}}) {
      EXPECT_EQ(job.wall_jumped(step, 500).at(500), lines{});
      EXPECT_EQ(job.last().wake_elapsed, at_ms(1000));
    }
  }
}

}  // namespace
}  // namespace looptask::schedule
