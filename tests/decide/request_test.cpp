// Requests by hand, pause and resume, edits and enabling.
#include <gtest/gtest.h>

#include "decide/bench.hpp"

namespace looptask::schedule {
namespace {

job_definition grid(overlap_policy overlap = overlap_policy::skip) {
  job_definition d = every(1000, interval_from::grid);
  d.overlap = overlap;
  return d;
}

bench idle(job_definition d) {
  bench job(std::move(d));
  job.at(0);
  job.ended(0, 10).at(10);
  return job;
}

TEST(Request, RunsAtOnceUnderItsOwnKindAndInstant) {
  bench job(by_hand());
  EXPECT_EQ(job.asked("A").at(1234), lines{"open manual 1234"});
  EXPECT_EQ(job.state().active.front().what.run_id, "A");
}

TEST(Request, TakesTheNextFreeMillisecond) {
  bench job(by_hand());
  job.definition().overlap = overlap_policy::queue_one;
  EXPECT_EQ(job.asked("A", {at_ms(1000), at_ms(1001)}).asked("B", {at_ms(1000), at_ms(1001)}).at(1000),
            (lines{"open manual 1002", "hold manual 1003 overlap"}));
}

TEST(Request, MeetsOverlapLikeASlot) {
  bench skipping(grid());
  skipping.at(0);
  EXPECT_EQ(skipping.asked("A").at(300), lines{"skipped manual 300 overlap"});
  bench queueing(grid(overlap_policy::queue_one));
  queueing.at(0);
  EXPECT_EQ(queueing.asked("A").at(300), lines{"hold manual 300 overlap"});
  EXPECT_EQ(queueing.at(1000), lines{"skipped 1000 overlap"});
}

TEST(Request, NeverMovesTheGrid) {
  bench job = idle(grid());
  EXPECT_EQ(job.asked("A").at(500), lines{"open manual 500"});
  EXPECT_EQ(job.ended(500, 700).at(700), lines{"end manual 500 success at 700"});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(1000));
}

TEST(Request, OnEndAndStartJobsQueuesOneAndMovesNothing) {
  bench job(every(1000, interval_from::end));
  job.at(0);
  EXPECT_EQ(job.asked("A").at(100), lines{"hold manual 100 overlap"});
  EXPECT_EQ(job.asked("B").at(200), lines{"skipped manual 200 overlap"});
  EXPECT_EQ(job.ended(0, 300).at(300), (lines{"end 0 success at 300", "open manual 100"}));
  EXPECT_EQ(job.at(1300), lines{}) << "due, but a run is active";
  EXPECT_EQ(job.ended(100, 1500).at(1500), (lines{"end manual 100 success at 1500", "open 1300"}));
}

TEST(Request, WaitsForRoom) {
  bench job(by_hand());
  job.room = 0;
  EXPECT_EQ(job.asked("A").at(5), lines{"hold manual 5 limit"});
  job.room = 1;
  EXPECT_EQ(job.at(60), lines{"open manual 5"});
}

TEST(Request, OnlyRequestsAreServedWhenSlotsAreNotJudged) {
  bench job(grid());
  job.told().judge_slots = false;
  EXPECT_EQ(job.asked("A").at(0), lines{"open manual 0"});
  EXPECT_EQ(job.last().wake_elapsed, std::nullopt);
}

TEST(Request, IsRefusedWhenTheServiceStopsBeforeItIsServed) {
  bench job(by_hand());
  job.told().draining = true;
  EXPECT_EQ(job.asked("A").asked("B").at(5), (lines{"skipped manual 5 shutdown", "skipped manual 6 shutdown"}));
  bench closed(by_hand());
  closed.told().scope = scope::asked;
  EXPECT_EQ(closed.asked("A").at(5), lines{"skipped manual 5 shutdown"}) << "also of a job that cannot be judged";
}

TEST(Request, IsSupersededWhenTheJobIsRemovedBeforeItIsServed) {
  bench job(by_hand());
  job.told().removed = true;
  EXPECT_EQ(job.asked("A").at(5), lines{"superseded manual 5 removed"});
}

TEST(Pause, HoldsAlsoWhenTheServiceStopsAtOnce) {
  bench job = idle(grid());
  job.told().pause = true;
  job.told().draining = true;
  EXPECT_EQ(job.at(500), lines{"pause"});
  job.told().pause = false;
  job.told().draining = true;
  EXPECT_EQ(job.at(2500), (lines{"suppressed 1000..2000 x2 paused", "resume"}));
}

TEST(Pause, SlotsAreSuppressedAsOneRangeAtResume) {
  bench job = idle(grid());
  job.told().pause = true;
  EXPECT_EQ(job.at(500), lines{"pause"});
  EXPECT_EQ(job.last().wake_elapsed, std::nullopt);
  EXPECT_EQ(job.at(2500), lines{});
  job.told().pause = false;
  EXPECT_EQ(job.at(4000), (lines{"suppressed 1000..3000 x3 paused", "resume", "open 4000"}))
      << "the slot of the resume itself is on time";
}

TEST(Pause, IsNeverAMisfireNotEvenOverARestart) {
  bench job = idle(grid());
  job.told().pause = true;
  job.at(500);
  EXPECT_EQ(job.down(3500, 600).at(3500), lines{});
  job.told().pause = false;
  EXPECT_EQ(job.at(3600), (lines{"suppressed 1000..3000 x3 paused", "resume"}));
}

TEST(Pause, EndsTheWaitOfASlotAndLeavesTheRunAlone) {
  bench job(grid(overlap_policy::queue_one));
  job.at(0);
  job.at(1000);
  job.told().pause = true;
  EXPECT_EQ(job.at(1200), (lines{"suppressed 1000 paused", "pause"}));
  EXPECT_EQ(job.ended(0, 1300).at(1300), lines{"end 0 success at 1300"});
}

TEST(Pause, LeavesRequestsThatWait) {
  bench job(grid(overlap_policy::queue_one));
  job.at(0);
  job.asked("A").at(300);
  job.told().pause = true;
  EXPECT_EQ(job.at(500), lines{"pause"});
  EXPECT_EQ(job.ended(0, 600).at(600), (lines{"end 0 success at 600", "open manual 300"}));
}

TEST(Pause, EndAndStartJobsGoOnWithTheirNextDueTime) {
  bench job(every(1000, interval_from::end));
  job.at(0);
  job.ended(0, 200).at(200);
  job.told().pause = true;
  job.at(300);
  job.told().pause = false;
  EXPECT_EQ(job.at(5000).front(), "suppressed 1200..4200 x4 paused");
  EXPECT_EQ(job.last().wake_elapsed, at_ms(5200));
}

TEST(Pause, RequestsByHandAreServed) {
  bench job = idle(grid());
  job.told().pause = true;
  job.at(500);
  EXPECT_EQ(job.asked("A").at(600), lines{"open manual 600"});
}

TEST(Edit, OfAnythingButTheTriggerKeepsPhaseAndWatermark) {
  bench job = idle(grid());
  const job_state before = job.state();
  job_definition d = grid(overlap_policy::queue_one);
  d.timeout = ms(5);
  d.retry.max = 9;
  EXPECT_EQ(job.edit(d, 700), lines{});
  EXPECT_EQ(job.state(), before);
}

TEST(Edit, AChangedTriggerIsJudgedFromTheEdit) {
  bench job = idle(grid());
  EXPECT_EQ(job.edit(every(700, interval_from::grid), 1500),
            (lines{"superseded 1000 removed", "rejudge after 1499999us anchor 1500 epoch 0"}));
  EXPECT_EQ(job.at(1500), lines{"open 1500"});
}

TEST(Edit, SupersedesSlotsThatWait) {
  bench job(grid(overlap_policy::queue_one));
  job.at(0);
  job.at(1000);
  EXPECT_EQ(job.edit(every(700, interval_from::grid), 1200).front(), "superseded 1000 removed");
}

TEST(Edit, ANewGridOnAnOldSlotComesUnderANewEpoch) {
  bench job(grid());
  job.at(0);
  EXPECT_EQ(job.edit(every(700, interval_from::grid), 0), lines{"rejudge after -1us anchor 0 epoch 1"});
}

TEST(Edit, AnIntervalJobKeepsItsGapToTheLastEnd) {
  bench job(every(60'000, interval_from::end));
  job.at(0);
  job.ended(0, 500).at(500);
  job.edit(every(2000, interval_from::end), 1000);
  job.at(1000);
  EXPECT_EQ(job.last().wake_elapsed, at_ms(2500));
}

TEST(Edit, AnAtInstantBeforeTheEditIsNoSlotOfIt) {
  bench job(at(1000));
  job.at(1000);
  job.ended(1000, 1001).at(1001);
  job.edit(at(5000), 2000);
  EXPECT_EQ(job.at(5000), lines{"open 5000"});
  job.ended(5000, 5001).at(5001);
  job.edit(at(1000), 6000);
  EXPECT_EQ(job.down(6000, 6000).at(6000), lines{}) << "it has run, and never comes back";
}

TEST(Enable, DisabledMeansNoSlotsAtAll) {
  job_definition off = grid();
  off.enabled = false;
  bench job(off);
  EXPECT_EQ(job.at(5000), lines{});
  EXPECT_EQ(job.last().wake_elapsed, std::nullopt);
  EXPECT_EQ(job.edit(grid(), 5500), lines{"rejudge after 5499999us anchor 0 epoch 0"}) << "the phase stays";
  EXPECT_EQ(job.at(5500), lines{});
  EXPECT_EQ(job.at(6000), lines{"open 6000"});
}

TEST(Enable, AnIntervalThatHasPassedStartsAtTheEnabling) {
  bench job = idle(every(1000, interval_from::end));
  job_definition off = every(1000, interval_from::end);
  off.enabled = false;
  job.edit(off, 100);
  job.edit(every(1000, interval_from::end), 9000);
  EXPECT_EQ(job.at(9000), lines{"open 9000"});
}

}  // namespace
}  // namespace looptask::schedule
