// Attempts: timeouts, retries, cancelling, stopping of the service, removal.
#include <gtest/gtest.h>

#include "decide/bench.hpp"

namespace looptask::schedule {
namespace {

job_definition with_timeout(std::int64_t timeout_ms, std::uint32_t retries = 0) {
  job_definition d = every(100'000, interval_from::grid);
  d.timeout = ms(timeout_ms);
  d.retry = {
      .max = retries, .backoff = backoff_kind::fixed, .delay = ms(100), .factor = 2, .max_delay = ms(60'000), .jitter = 0};
  return d;
}

TEST(Timeout, StopsTheAttemptWhichThenEndsAsTimeout) {
  bench job(with_timeout(500));
  job.at(0);
  job.at(1);
  EXPECT_EQ(job.last().wake_elapsed, at_ms(500));
  EXPECT_EQ(job.at(500), lines{"stop 0#1 timeout"});
  EXPECT_EQ(job.at(600), lines{}) << "asked once";
  EXPECT_EQ(job.ended(0, 700, run_result::failed).at(700), lines{"end 0 timeout at 700"});
}

TEST(Timeout, AnAttemptThatEndsInTheSameInstantHasEndedByItself) {
  bench job(with_timeout(500));
  job.at(0);
  job.at(1);
  EXPECT_EQ(job.ended(0, 500).at(500), lines{"end 0 success at 500"});
}

TEST(Timeout, AnAttemptThatHadEndedBeforeItWasStoppedHasEndedByItself) {
  bench job(with_timeout(500));
  job.at(0);
  EXPECT_EQ(job.at(800), lines{"stop 0#1 timeout"});
  EXPECT_EQ(job.ended(0, 499).at(801), lines{"end 0 success at 499"});
}

TEST(Timeout, IsCountedForEachAttemptFromItsStart) {
  bench job(with_timeout(500, 1));
  job.at(0);
  EXPECT_EQ(job.at(500), lines{"stop 0#1 timeout"});
  EXPECT_EQ(job.ended(0, 520, run_result::failed).at(520), lines{"retry 0#1 at 620"});
  EXPECT_EQ(job.at(620), lines{"open 0#2"});
  job.at(621);
  EXPECT_EQ(job.last().wake_elapsed, at_ms(1120));
}

TEST(Timeout, DoesNotWaitForTheLedger) {
  bench job(with_timeout(500));
  job.at(0);
  job.told().scope = scope::watch;
  EXPECT_EQ(job.at(500), lines{"stop 0#1 timeout"});
  job.told().scope = scope::watch;
  EXPECT_EQ(job.ended(0, 510, run_result::failed).at(510), lines{}) << "an end needs the ledger";
}

TEST(Timeout, AnEndThatIsKnownButNotYetJudgedIsNotStopped) {
  bench job(with_timeout(500));
  job.at(0);
  job.told().scope = scope::watch;
  EXPECT_EQ(job.ended(0, 400).at(500), lines{});
}

TEST(Retry, BackoffIsCountedFromTheEndOfTheFailedAttempt) {
  bench job(with_timeout(50'000, 2));
  job.at(0);
  EXPECT_EQ(job.ended(0, 70, run_result::failed).at(75), lines{"retry 0#1 at 170"});
  EXPECT_EQ(job.last().wake_elapsed, at_ms(170));
  EXPECT_EQ(job.at(170), lines{"open 0#2"});
  EXPECT_EQ(job.ended(0, 180, run_result::failed, 2).at(180), lines{"retry 0#2 at 280"});
  EXPECT_EQ(job.at(280), lines{"open 0#3"});
  EXPECT_EQ(job.ended(0, 290, run_result::failed, 3).at(290), lines{"end 0 failed at 290"}) << "1 + 2 attempts were made";
}

TEST(Retry, TheDrawOfItsJitterIsAFact) {
  job_definition d = with_timeout(50'000, 1);
  d.retry.jitter = 0.5;
  bench job(d);
  job.at(0);
  job.ended(0, 0, run_result::failed).told().ended.front().draw = 0.5;
  EXPECT_EQ(job.at(0), lines{"retry 0#1 at 125"});
}

TEST(Retry, WhatIsRetriedAndWhatNot) {
  struct row {
    run_result result;
    lines expected;
  };
  for (const row& r : {row{run_result::failed, {"retry 0#1 at 110"}}, row{run_result::start_failed, {"retry 0#1 at 110"}},
                       row{run_result::success, {"end 0 success at 10"}}}) {
    bench job(with_timeout(50'000, 1));
    job.at(0);
    EXPECT_EQ(job.ended(0, 10, r.result).at(10), r.expected);
  }
}

TEST(Cancel, EndsTheRunWithoutRetry) {
  bench job(with_timeout(50'000, 3));
  job.at(0);
  job.told().cancels = {{run_kind::schedule, at_ms(0), 0}};
  EXPECT_EQ(job.at(100), lines{"stop 0#1 cancelled"});
  EXPECT_EQ(job.ended(0, 130, run_result::failed).at(130), lines{"end 0 cancelled at 130"});
}

TEST(Cancel, EndsARunBetweenAttemptsAtOnce) {
  bench job(with_timeout(50'000, 3));
  job.at(0);
  job.ended(0, 10, run_result::failed).at(10);
  job.told().cancels = {{run_kind::schedule, at_ms(0), 0}};
  EXPECT_EQ(job.at(50), lines{"end 0 cancelled at 50"});
}

TEST(Restart, WithoutASignOfLifeItSaysSo) {
  bench job(every(1000, interval_from::grid));
  job.at(0);
  job.told().revived = instant::min();
  EXPECT_EQ(job.at(500), lines{"end 0 interrupted at 0 down"});
  const auto closed = std::find_if(job.last().decisions.begin(), job.last().decisions.end(),
                                   [](const decision& d) { return std::holds_alternative<close_run>(d); });
  EXPECT_EQ(std::get<close_run>(*closed).detail, "the service ended while the run was going; no sign of life is known");
}

TEST(Shutdown, StartsNothingAndLeavesRunsTheirGrace) {
  bench job(every(1000, interval_from::grid));
  job.at(0);
  job.told().draining = true;
  EXPECT_EQ(job.at(1000), lines{}) << "the slot is judged by the next life";
  job.told().draining = true;
  EXPECT_EQ(job.ended(0, 1200).at(1200), lines{"end 0 success at 1200"});
}

TEST(Shutdown, StopsWhatIsStillGoingAfterTheGrace) {
  bench job(every(1000, interval_from::grid));
  job.at(0);
  job.told().draining = job.told().grace_over = true;
  EXPECT_EQ(job.at(500), lines{"stop 0#1 shutdown"});
  job.told().draining = job.told().grace_over = true;
  EXPECT_EQ(job.ended(0, 520).at(520), lines{"end 0 killed at 520 shutdown"}) << "whatever it said, it was stopped";
}

TEST(Shutdown, DoesNotRetryWhatFailsDuringTheGrace) {
  bench job(with_timeout(50'000, 1));
  job.at(0);
  job.told().draining = true;
  EXPECT_EQ(job.ended(0, 100, run_result::failed).at(100), lines{"end 0 killed at 100 shutdown"});
}

TEST(Shutdown, ARunBetweenAttemptsEndsAtOnceAndSaysHowItsLastOneEnded) {
  bench job(with_timeout(50'000, 1));
  job.at(0);
  job.ended(0, 100, run_result::start_failed).at(100);
  job.told().draining = true;
  EXPECT_EQ(job.at(150), lines{"end 0 killed at 150 shutdown"});
  EXPECT_TRUE(std::get<close_run>(job.last().decisions.back()).detail.starts_with("attempt 1 ended as start_failed"))
      << std::get<close_run>(job.last().decisions.back()).detail;
}

TEST(Shutdown, AClaimedRunThatWasNotStartedAnyMoreIsKilled) {
  bench job(with_timeout(50'000, 2));
  job.begins = false;
  job.at(0);
  job.told().draining = true;
  EXPECT_EQ(job.ended(0, 1, run_result::killed).at(1), lines{"end 0 killed at 1 shutdown"});
}

TEST(Removal, StopsTheRunAndSupersedesWhatWaits) {
  job_definition d = every(1000, interval_from::grid);
  d.overlap = overlap_policy::queue_one;
  bench job(d);
  job.at(0);
  job.at(1000);
  job.told().removed = true;
  EXPECT_EQ(job.at(1500), (lines{"stop 0#1 removed", "superseded 1000 removed"}));
  job.told().removed = true;
  EXPECT_EQ(job.ended(0, 1600, run_result::failed).at(2600), lines{"end 0 cancelled at 1600 removed"});
  EXPECT_EQ(job.last().wake_elapsed, std::nullopt);
}

TEST(Restart, RunsThatWereGoingAreInterruptedAndNotRetried) {
  bench job(with_timeout(50'000, 5));
  job.at(0);
  job.at(1);
  EXPECT_EQ(job.down(9000, 3000).at(9000), lines{"end 0 interrupted at 3000 down"});
}

TEST(Restart, ASignOfLifeOlderThanTheStartDoesNotEndARunBeforeItBegan) {
  bench job(every(1000, interval_from::grid));
  job.at(0);
  job.ended(0, 1).at(1);
  job.at(1000);
  job.at(1001);
  EXPECT_EQ(job.down(1500, 700).at(1500), lines{"end 1000 interrupted at 1000 down"});
}

}  // namespace
}  // namespace looptask::schedule
