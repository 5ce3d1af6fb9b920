// Steps of the wall clock: what cron and at make of them.
#include <gtest/gtest.h>

#include "decide/bench.hpp"

namespace looptask::schedule {
namespace {

constexpr std::int64_t minute = 60'000;
constexpr std::int64_t three_hours = 10'800'000;

job_definition each_minute(misfire_policy misfire) {
  job_definition d = cron("* * * * *");
  d.misfire = misfire;
  return d;
}

// Minutes 1 and 2 have run.
bench after_two(misfire_policy misfire = misfire_policy::skip) {
  bench job(each_minute(misfire));
  for (const std::int64_t at : {minute, 2 * minute}) {
    EXPECT_EQ(job.at(at).size(), 1U);
    job.ended(at, at + 1000).at(at + 1000);
  }
  return job;
}

TEST(Cron, TheInstantOfCreationItselfDoesNotFire) {
  bench job(each_minute(misfire_policy::skip));
  EXPECT_EQ(job.at(0), lines{});
  EXPECT_EQ(job.last().wake_wall, at_ms(minute));
}

TEST(CronEvery, GoesByElapsedTimeWhateverTheWallClockShows) {
  bench job(cron("@every 10s"));
  EXPECT_EQ(job.at(0), lines{}) << "strictly later than the creation";
  EXPECT_EQ(job.wall_jumped(3'600'000, 4000).at(4000), lines{});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(10'000));
  EXPECT_EQ(job.last().wake_wall, std::nullopt);
  EXPECT_EQ(job.at(10'000), lines{"open 10000"});
  job.ended(10'000, 10'100).at(10'100);
  EXPECT_EQ(job.wall_jumped(-36'000'000, 12'000).at(12'000), lines{});
  EXPECT_EQ(job.at(20'000), lines{"open 20000"});
  EXPECT_EQ(job.state().epoch, 0U);
}

TEST(CronReboot, FiresOnceForEachStartOfTheService) {
  bench job(cron("@reboot"));
  job.told().begun = at_ms(0);
  EXPECT_EQ(job.down(0, 0).at(0), lines{"open 0"});
  EXPECT_EQ(job.last().wake_wall, std::nullopt);
  EXPECT_EQ(job.ended(0, 500).at(500), lines{"end 0 success at 500"});
  EXPECT_EQ(job.at(86'400'000), lines{}) << "once";
  job.told().begun = at_ms(90'000'000);
  EXPECT_EQ(job.down(90'000'000, 500).at(90'000'100), lines{"open 90000000"});
}

TEST(CronReboot, AJobThatComesLaterWaitsForTheNextStart) {
  bench job(cron("@reboot"), 5000);
  EXPECT_EQ(job.at(5000), lines{});
}

TEST(CronReboot, LooksAtNoClock) {
  bench job(cron("@reboot"));
  job.told().begun = at_ms(0);
  job.down(0, 0).at(0);
  job.ended(0, 500).at(500);
  job.wall_jumped(-3'600'000, 1000);
  job.told().steps.clear();  // it happened while the service was down
  job.plausible = false;
  job.told().begun = at_ms(1000 - 3'600'000);
  EXPECT_EQ(job.down(1000, 500).at(1000), lines{"open 1us"}) << "later than any slot before, and not later than it is due";
  EXPECT_EQ(std::get<open_run>(job.last().decisions.front()).what.due, at_ms(1000 - 3'600'000));
}

TEST(CronReboot, PausedDisabledAndRepeatedStarts) {
  bench paused(cron("@reboot"));
  paused.state().paused = true;
  paused.told().begun = at_ms(0);
  EXPECT_EQ(paused.down(0, 0).at(0), lines{"suppressed 0 paused"});
  bench disabled(cron("@reboot"));
  disabled.definition().enabled = false;
  disabled.told().begun = at_ms(0);
  EXPECT_EQ(disabled.down(0, 0).at(0), lines{});
  bench waiting(cron("@reboot"));
  waiting.room = 0;
  waiting.told().begun = at_ms(0);
  EXPECT_EQ(waiting.down(0, 0).at(0), lines{"hold 0 limit"});
  waiting.room = 1;
  waiting.told().begun = at_ms(9000);
  EXPECT_EQ(waiting.down(9000, 100).at(9000), (lines{"missed 0 down", "open 9000"}));
}

TEST(ForwardStep, SlotsStrictlyBetweenAreMissed) {
  bench job = after_two();
  EXPECT_EQ(job.wall_jumped(140'000, 150'000).at(150'000), lines{"missed 180000..240000 x2 clock-step"});
}

TEST(ForwardStep, RunOnceRunsTheLatest) {
  bench job = after_two(misfire_policy::run_once);
  EXPECT_EQ(job.wall_jumped(140'000, 150'000).at(150'000), (lines{"coalesced 180000 coalesced", "open 240000"}));
}

TEST(ForwardStep, ASlotExactlyAtTheNewTimeIsOnTime) {
  bench job = after_two();
  EXPECT_EQ(job.wall_jumped(90'000, 150'000).at(150'000), (lines{"missed 180000 clock-step", "open 240000"}));
}

TEST(ForwardStep, ASlotExactlyAtTheOldTimeWasNotJumpedOver) {
  bench job = after_two();
  EXPECT_EQ(job.wall_jumped(30'000, 180'000).at(180'000), lines{"open 180000"});
}

TEST(BackwardStep, OfUpToThreeHoursRepeatsNothing) {
  for (const std::int64_t back : {2 * minute, three_hours}) {
    bench job = after_two();
    EXPECT_EQ(job.wall_jumped(-back, 150'000).at(150'000), lines{});
    EXPECT_EQ(job.last().wake_wall, at_ms(3 * minute)) << back;
    EXPECT_EQ(job.state().epoch, 0U);
  }
}

TEST(BackwardStep, BeyondThreeHoursIsACorrectionUnderANewEpoch) {
  bench job = after_two();
  const std::int64_t now = 150'000;
  const std::int64_t wall = now - three_hours - 1;
  EXPECT_EQ(job.wall_jumped(-three_hours - 1, now).at(now),
            lines{"rejudge after " + std::to_string(wall) + " anchor 0 epoch 1"});
  const std::int64_t first = wall - wall % minute;  // both negative: the next full minute
  EXPECT_EQ(job.last().wake_wall, at_ms(first));
  EXPECT_EQ(job.at(now + first - wall), lines{"open " + std::to_string(first) + "/1"});
}

TEST(BackwardStep, TwoStepsAreJudgedOneByOne) {
  bench job = after_two();
  job.wall_jumped(-2 * three_hours / 3, 150'000).wall_jumped(-2 * three_hours / 3, 150'000);
  EXPECT_EQ(job.at(150'000), lines{});
  EXPECT_EQ(job.state().epoch, 0U);
}

TEST(BackwardStep, AnAtJobThatHasRunNeverComesBack) {
  bench job(at(minute));
  job.at(minute);
  job.ended(minute, minute + 5).at(minute + 5);
  EXPECT_EQ(job.wall_jumped(-10 * three_hours, 150'000).at(150'000), lines{});
  EXPECT_EQ(job.last().wake_wall, std::nullopt);
}

TEST(BackwardStep, AnAtJobThatHasNotRunYetStillDoes) {
  bench job(at(10 * minute));
  job.at(minute);
  job.wall_jumped(-10 * three_hours, 150'000).at(150'000);
  EXPECT_EQ(job.last().wake_wall, at_ms(10 * minute));
}

TEST(BackwardStep, ACorrectionReachesAPausedJob) {
  bench job = after_two();
  job.told().pause = true;
  job.at(130'000);
  const lines decided = job.wall_jumped(-2 * three_hours, 190'000).at(190'000);
  ASSERT_EQ(decided.size(), 2U);
  EXPECT_EQ(decided[0], "suppressed 180000 paused");
  EXPECT_EQ(job.state().epoch, 1U);
}

TEST(Steps, ForwardAndBackInOneInstant) {
  bench job = after_two();
  job.wall_jumped(5 * minute, 150'000).wall_jumped(-5 * minute, 150'000);
  EXPECT_EQ(job.at(150'000), lines{"missed 180000..420000 x5 clock-step"});
  EXPECT_EQ(job.last().wake_wall, at_ms(8 * minute)) << "what was jumped over is not repeated";
}

TEST(Steps, WithinTheGraceASingleSlotIsLate) {
  job_definition d = each_minute(misfire_policy::skip);
  d.misfire_grace = ms(1000);
  bench job(d);
  job.at(0);
  EXPECT_EQ(job.wall_jumped(500, minute - 100).at(minute - 100), lines{"open 60000"});
}

TEST(Implausible, WallClockJobsWaitAndOthersDoNot) {
  bench wall = after_two();
  wall.plausible = false;
  EXPECT_EQ(wall.at(5 * minute), lines{});
  EXPECT_EQ(wall.last().wake_wall, std::nullopt);
  bench elapsed(every(1000, interval_from::grid));
  elapsed.plausible = false;
  EXPECT_EQ(elapsed.at(0), lines{"open 0"});
}

TEST(WallHigh, IsTheLatestWallTimeSeen) {
  bench job = after_two();
  job.at(150'000);
  EXPECT_EQ(job.state().wall_high, at_ms(150'000));
  job.wall_jumped(-minute, 160'000).at(160'000);
  EXPECT_EQ(job.state().wall_high, at_ms(150'000));
  job.wall_jumped(-2 * three_hours, 170'000).at(170'000);
  EXPECT_EQ(job.state().wall_high, at_ms(170'000 - minute - 2 * three_hours)) << "a correction takes it back";
}

}  // namespace
}  // namespace looptask::schedule
