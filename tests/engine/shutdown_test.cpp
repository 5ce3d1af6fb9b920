// The end of a service, in two steps.
#include <gtest/gtest.h>

#include "engine/house.hpp"

namespace looptask::engine {
namespace {

TEST(Shutdown, NothingStartsAfterStopNotEvenWhatWasClaimed) {
  house h;
  const auto body = h.job(every("a", 60'000));
  h.store->holding = true;
  h.up();
  h.run_to(100);
  h.stop();
  h.run_to(150);
  h.store->release();
  h.run_to(200);
  EXPECT_EQ(body->started, 0U);
  EXPECT_EQ(h.records().at(0).result, run_result::killed);
  EXPECT_EQ(h.records().at(0).why, cause::shutdown);
  EXPECT_TRUE(h.stopped);
}

TEST(Shutdown, RunsThatEndWithinTheGraceEndByThemselves) {
  house h;
  h.options.shutdown_grace = ms(5000);
  h.job(every("a", 60'000))->takes = ms(2000);
  h.up();
  h.run_to(500);
  h.stop();
  h.run_to(1900);
  EXPECT_FALSE(h.stopped);
  h.run_to(2100);
  ASSERT_TRUE(h.stopped);
  EXPECT_EQ(h.stopped->message, "");
  EXPECT_EQ(h.take("run_ended"), lines{"2000 run_ended a 0 success"});
}

TEST(Shutdown, ARunBetweenAttemptsEndsAtOnceAndIsNotCounted) {
  house h;
  schedule::job_definition d = every("a", 60'000);
  d.retry.max = 3;
  d.retry.delay = ms(20'000);
  h.job(d)->result = run_result::failed;
  h.up();
  h.run_to(500);
  EXPECT_EQ(h.it->statistics().running, 1U);
  EXPECT_EQ(h.it->statistics().between_attempts, 1U);
  h.stop();
  h.run_to(501);
  ASSERT_TRUE(h.stopped);
  EXPECT_EQ(h.take("run_ended"), lines{"500 run_ended a 0 killed shutdown"});
}

TEST(Shutdown, SlotsThatPassDuringTheGraceAreNoStallOfTheLoop) {
  house h;
  h.options.shutdown_grace = ms(5000);
  h.job(every("a", 60'000))->takes = microseconds::max();
  schedule::job_definition grid = every("b", 1000);
  std::get<schedule::every_trigger>(grid.trigger).from = schedule::interval_from::grid;
  h.job(grid)->takes = microseconds::max();
  h.up();
  h.run_to(500);
  h.stop();
  h.run_to(5600);
  EXPECT_TRUE(h.stopped);
  EXPECT_EQ(h.take("loop_stalled"), lines{});
}

TEST(Shutdown, AfterTheGraceRunsAreStoppedWithACappedKillAfter) {
  house h;
  h.options.shutdown_grace = ms(5000);
  const auto body = h.job(every("a", 60'000));
  body->takes = microseconds::max();
  h.up();
  h.run_to(500);
  h.stop();
  h.run_to(5600);
  EXPECT_EQ(body->stopped_with, std::chrono::seconds(3));
  EXPECT_EQ(h.take("run_ended"), lines{"5500 run_ended a 0 killed shutdown"});
  EXPECT_TRUE(h.stopped);
}

TEST(Shutdown, ASecondStopEndsTheGraceAtOnce) {
  house h;
  h.job(every("a", 60'000))->takes = microseconds::max();
  h.up();
  h.run_to(500);
  h.stop();
  h.run_to(700);
  EXPECT_FALSE(h.stopped);
  h.stop();
  h.run_to(710);
  EXPECT_TRUE(h.stopped);
  EXPECT_EQ(h.take("run_ended"), lines{"700 run_ended a 0 killed shutdown"});
}

TEST(Shutdown, ATimeoutThatIsUnderWayIsHurriedUp) {
  house h;
  schedule::job_definition d = every("a", 60'000);
  d.timeout = ms(100);
  const auto body = h.job(d);
  body->takes = microseconds::max();
  body->deaf = true;
  h.up();
  h.run_to(500);
  EXPECT_EQ(body->stopped_with, std::chrono::seconds(10));
  h.stop();
  h.stop();
  h.run_to(501);
  EXPECT_EQ(body->stopped_with, std::chrono::seconds(3));
}

TEST(Shutdown, SaysWhatHadToBeLeftBehind) {
  house h;
  const auto body = h.job(every("a", 60'000));
  body->takes = microseconds::max();
  body->deaf = true;
  h.up();
  h.run_to(500);
  h.stop();
  h.stop();
  h.run_to(30'000);
  ASSERT_TRUE(h.stopped);
  EXPECT_EQ(h.stopped->attempts_left, 1U);
}

TEST(Shutdown, WaitingSlotsAreMissedByTheNextLife) {
  house h;
  schedule::job_definition d = every("a", 1000);
  d.overlap = schedule::overlap_policy::queue_one;
  d.misfire = schedule::misfire_policy::skip;
  h.job(d)->takes = microseconds::max();
  h.up();
  h.run_to(1500);
  h.stop();
  h.stop();
  h.run_to(1700);
  ASSERT_TRUE(h.stopped);
  h.crash();
  h.world.pass_until(ms(2700));
  h.up();
  h.take();
  h.run_to(2800);
  EXPECT_EQ(h.take("slot_not_run"), (lines{"2700 slot_not_run a 1000 missed down", "2700 slot_not_run a 2000 missed down"}));
}

TEST(Shutdown, OfAnIdleServiceIsImmediateAndASecondOneIsFine) {
  house h;
  h.job(every("a", 60'000, schedule::interval_from::grid, 60'000));
  h.up();
  h.run_to(100);
  h.stop();
  h.run_to(101);
  EXPECT_TRUE(h.stopped);
  h.stopped.reset();
  h.stop();
  h.run_to(102);
  EXPECT_TRUE(h.stopped);
}

}  // namespace
}  // namespace looptask::engine
