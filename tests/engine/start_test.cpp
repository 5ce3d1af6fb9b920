// The order of things: durable, then done; room in the service; requests, pause, cancel, statistics.
#include <gtest/gtest.h>

#include "engine/house.hpp"

namespace looptask::engine {
namespace {

TEST(Start, NothingStartsBeforeItsClaimIsDurable) {
  house h;
  const auto body = h.job(every("a", 60'000));
  h.store->holding = true;
  h.up();
  h.run_to(500);
  EXPECT_EQ(body->started, 0U);
  ASSERT_FALSE(h.store->seen.empty());
  EXPECT_EQ(h.store->seen.front().runs.front().phase, ledger::record_phase::open);
  h.store->release();
  h.run_to(600);
  EXPECT_EQ(body->started, 1U);
  const std::vector<ledger::run_record> records = h.records();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].started, h.at(500)) << "a start is recorded as it was, not as it was planned";
  EXPECT_EQ(records[0].lateness, ms(500));
}

TEST(Start, AllDecisionsOfOneInstantAreOneBatch) {
  house h;
  for (const char* const name : {"a", "b", "c"}) h.job(every(name, 1000));
  h.up();
  h.run_to(10);
  EXPECT_EQ(h.store->seen.front().runs.size(), 3U);
  EXPECT_EQ(h.it->statistics().total.attempts, 3U);
}

TEST(Start, EndsAreRecordedWithTheirOutput) {
  house h;
  h.job(every("a", 60'000))->takes = ms(20);
  h.up();
  h.run_to(100);
  const std::vector<ledger::run_record> records = h.records();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].result, run_result::success);
  EXPECT_EQ(records[0].ended, h.at(20));
  ASSERT_EQ(records[0].attempts.size(), 1U);
  EXPECT_EQ(records[0].attempts[0].output_head, "output");
  EXPECT_EQ(records[0].run_id.size(), 26U);
}

TEST(Start, OutputOfEarlierAttemptsIsNotLostToLaterOnes) {
  house h;
  schedule::job_definition d = every("a", 60'000);
  d.retry.max = 2;
  d.retry.delay = ms(10);
  h.job(d)->result = run_result::failed;
  h.up();
  h.run_to(1000);
  const std::vector<ledger::run_record> records = h.records();
  ASSERT_EQ(records[0].attempts.size(), 3U);
  for (const ledger::attempt_record& a : records[0].attempts) EXPECT_EQ(a.output_head, "output") << a.n;
  EXPECT_EQ(records[0].detail, "it went wrong");
}

// It may be 64 MiB: whoever is told of it, and each try to write it, shares the bytes.
TEST(Start, OutputIsSharedNotCopied) {
  house h;
  h.job(every("a", 60'000))->takes = ms(20);
  h.up();
  h.run_to(10);
  h.store->failing = true;
  h.run_to(5000);
  h.store->failing = false;
  h.run_to(15'000);
  ASSERT_NE(h.output_told, nullptr);
  std::size_t tries = 0;
  for (const ledger::batch& b : h.store->seen) {
    for (const ledger::run_record& r : b.runs) {
      if (r.attempts.empty() || r.attempts[0].output_head.empty()) continue;
      EXPECT_EQ(r.attempts[0].output_head.view().data(), h.output_told);
      ++tries;
    }
  }
  EXPECT_GE(tries, 2U);
}

// However often a run is tried again, each attempt costs the same.
TEST(Start, ARunKeepsNoEarlierAttemptsInItsEventsAndBatches) {
  constexpr std::uint32_t retries = 1000;
  house h;
  schedule::job_definition d = every("a", 3'600'000);
  d.retry.max = retries;
  d.retry.backoff = schedule::backoff_kind::fixed;
  d.retry.delay = ms(10);
  h.job(d)->result = run_result::failed;
  h.up();
  h.run_to(60'000);
  EXPECT_EQ(h.most_attempts_told, 1U);
  for (const ledger::batch& b : h.store->seen) {
    for (const ledger::run_record& r : b.runs) EXPECT_LE(r.attempts.size(), 2U);  // the end of one with the claim of the next
  }
  EXPECT_EQ(h.records().at(0).attempts.size(), retries + 1);
}

TEST(Start, ARestoredRunKeepsItsLastAttemptAlone) {
  house h;
  schedule::job_definition d = every("a", 3'600'000);
  d.retry.max = 10;
  d.retry.backoff = schedule::backoff_kind::fixed;
  d.retry.delay = ms(1000);
  h.job(d)->result = run_result::failed;
  h.up();
  h.run_to(4500);
  h.up();
  h.most_attempts_told = 0;
  h.run_to(60'000);
  EXPECT_EQ(h.most_attempts_told, 1U);
  EXPECT_EQ(h.records().at(0).attempts.size(), 5U);
}

TEST(Limit, StartsInOrderOfDueThenName) {
  house h;
  h.options.max_running = 1;
  h.job(every("late", 60'000, schedule::interval_from::grid, 20))->takes = ms(100);
  h.job(every("b", 60'000, schedule::interval_from::grid, 10))->takes = ms(100);
  h.job(every("a", 60'000, schedule::interval_from::end, 10))->takes = ms(100);
  h.job(every("first", 60'000))->takes = ms(100);
  h.up();
  h.run_to(1000);
  EXPECT_EQ(h.take("attempt_started"), (lines{"0 attempt_started first 0#1", "100 attempt_started a 10#1",
                                              "200 attempt_started b 10#1", "300 attempt_started late 20#1"}));
}

TEST(Limit, IsNeverExceededAndAFreedPlaceIsUsedInTheSameInstant) {
  house h;
  h.options.max_running = 3;
  for (int i = 0; i < 10; ++i) h.job(every("j" + std::to_string(i), 60'000))->takes = ms(50);
  h.up();
  h.run_to(1);
  EXPECT_EQ(h.it->statistics().running, 3U);
  EXPECT_EQ(h.it->statistics().waiting, 7U);
  h.run_to(51);
  EXPECT_EQ(h.it->statistics().running, 3U);
  EXPECT_EQ(h.take("attempt_started").back(), "50 attempt_started j5 0#1");
  h.run_to(201);
  EXPECT_EQ(h.it->statistics().total.runs, 10U);
}

TEST(Limit, ARunBetweenAttemptsHoldsItsPlace) {
  house h;
  h.options.max_running = 1;
  schedule::job_definition failing = every("a", 60'000);
  failing.retry.max = 1;
  failing.retry.delay = ms(500);
  h.job(failing)->result = run_result::failed;
  h.job(every("b", 60'000));
  h.up();
  h.run_to(1000);
  EXPECT_EQ(h.take("attempt_started"),
            (lines{"0 attempt_started a 0#1", "500 attempt_started a 0#2", "500 attempt_started b 0#1"}));
}

TEST(Limit, AJobOnTheWallClockKeepsItsTurnWhenTheClockIsSet) {
  for (const std::int64_t step : {-3'600'000, 3'600'000}) {
    house h;
    h.options.max_running = 1;
    h.job(every("a", 3'600'000, schedule::interval_from::grid, 59'000))->takes = ms(3000);
    h.job(cron("b", "* * * * *"))->takes = ms(3000);
    h.job(every("c", 3'600'000, schedule::interval_from::grid, 61'000))->takes = ms(3000);
    h.up();
    h.world.wall_jump(ms(61'500), ms(step));
    h.run_to(66'000);
    EXPECT_EQ(h.take("attempt_started"),
              (lines{"59000 attempt_started a 59000#1", "62000 attempt_started b 60000#1", "65000 attempt_started c 61000#1"}))
        << step;
  }
}

TEST(Limit, ADueJobOnASteppedClockTakesItsTurnByWhenItCameDue) {
  house h;
  h.options.max_running = 1;
  h.job(every("a", 3'600'000, schedule::interval_from::grid, 0))->takes = ms(100'000);
  h.job(by_hand("m"))->takes = ms(10);
  h.job(every("z", 3'600'000, schedule::interval_from::grid, 70'000))->takes = ms(10);
  h.up();
  h.world.wall_jump(ms(1000), ms(86'400'000));  // elapsed and wall differ from now on
  h.run_to(60'000);
  h.it->trigger("m", h.it->new_run_id());
  h.run_to(101'000);
  const lines started = h.take("attempt_started");
  ASSERT_EQ(started.size(), 3U);
  EXPECT_TRUE(started[1].starts_with("100000 attempt_started m manual")) << started[1];
}

TEST(Limit, RoomIsNotLeftUnusedBehindAJobThatCannotStart) {
  house h;
  h.options.max_running = 1;
  h.job(every("a", 3'600'000))->takes = ms(60'000);
  h.job(cron("b", "*/30 * * * * *"));
  h.up();
  h.run_to(40'000);
  EXPECT_EQ(h.it->status("b")->waiting, 1U);
  h.crash();
  h.world.wall_jump(ms(40'000), ms(-3'600'000));
  h.job(every("c", 10'000, schedule::interval_from::grid))->takes = ms(15'000);
  h.job(every("d", 10'000, schedule::interval_from::grid))->takes = ms(15'000);
  h.world.pass_until(ms(40'001));
  h.up();
  h.take();
  h.run_to(80'000);
  EXPECT_FALSE(h.it->statistics().wall_clock_plausible);
  const lines started = h.take("attempt_started");
  ASSERT_GE(started.size(), 3U);
  EXPECT_EQ(started[0], "40001 attempt_started c 40001#1");
  EXPECT_EQ(started[1], "55001 attempt_started d 40001#1") << "the kept slot of b is no head of the queue";
}

TEST(Trigger, IsToldAndRecordedAlsoWhenTheServiceStopsAtOnce) {
  house h;
  h.job(by_hand("a"));
  h.up();
  h.run_to(100);
  const std::string id = h.it->new_run_id();
  EXPECT_TRUE(h.it->trigger("a", id));
  h.stop();
  h.run_to(200);
  EXPECT_TRUE(h.stopped);
  EXPECT_EQ(h.take("slot_not_run"), lines{"100 slot_not_run a manual 100 skipped shutdown"});
  ASSERT_EQ(h.records().size(), 1U);
  EXPECT_EQ(h.records()[0].run_id, id);
}

TEST(Trigger, OfAJobThatWaitsForLeftoversIsToldWhenTheServiceStops) {
  house h;
  h.world.program("work", sim::program{.takes = sim::for_ever});
  h.command(every("a", 60'000), {"work"});
  h.up();
  h.world.crash_at(ms(2500));
  EXPECT_FALSE(h.run_to(5000));
  h.world.search_takes(ms(50));
  h.up();
  h.run_to(2520);
  EXPECT_TRUE(h.it->trigger("a", h.it->new_run_id()));
  EXPECT_TRUE(h.it->pause("a"));
  h.stop();
  h.run_to(2530);
  EXPECT_EQ(h.take("slot_not_run"), lines{"2520 slot_not_run a manual 2520 skipped shutdown"});
  EXPECT_TRUE(h.memory->load().jobs.at(0).paused);
}

TEST(Trigger, RunsNowUnderTheGivenId) {
  house h;
  h.job(by_hand("a"));
  h.up();
  h.run_to(100);
  const std::string id = h.it->new_run_id();
  EXPECT_TRUE(h.it->trigger("a", id));
  EXPECT_FALSE(h.it->trigger("b", id)) << "no such job";
  h.run_to(200);
  EXPECT_EQ(h.take("run_ended"), lines{"100 run_ended a manual 100 success"});
  EXPECT_EQ(h.records()[0].run_id, id);
}

TEST(Trigger, TwoInOneMillisecondHaveDifferentInstants) {
  house h;
  schedule::job_definition d = by_hand("a");
  d.overlap = schedule::overlap_policy::queue_one;
  h.job(d);
  h.up();
  h.run_to(100);
  h.it->trigger("a", h.it->new_run_id());
  h.it->trigger("a", h.it->new_run_id());
  h.run_to(101);
  h.world.wall_jump(ms(110), ms(-10));  // 100 comes again
  h.run_to(110);
  h.it->trigger("a", h.it->new_run_id());
  h.run_to(120);
  EXPECT_EQ(h.take("run_ended").size(), 3U);
  EXPECT_EQ(h.records().front().key.nominal, h.at(102));
}

TEST(Pause, IsDurableAndSuppresses) {
  house h;
  h.job(every("a", 1000));
  h.up();
  h.run_to(500);
  EXPECT_TRUE(h.it->pause("a"));
  h.run_to(2500);
  EXPECT_TRUE(h.it->status("a")->paused);
  h.crash();
  h.up();
  h.run_to(3500);
  h.it->resume("a");
  h.run_to(4500);
  EXPECT_EQ(h.take("slot_not_run"), lines{"3500 slot_not_run a 1000..3000 suppressed paused"});
  EXPECT_EQ(h.it->status("a")->next_due, h.at(5000));
}

TEST(Pause, HoldsAlsoWhenTheServiceStopsAtOnce) {
  house h;
  h.job(every("a", 1000));
  h.up();
  h.run_to(500);
  EXPECT_TRUE(h.it->pause("a"));
  h.stop();
  EXPECT_FALSE(h.it->resume("a")) << "it could not be kept";
  h.run_to(600);
  ASSERT_TRUE(h.stopped);
  EXPECT_TRUE(h.memory->load().jobs.at(0).paused);
}

TEST(Pause, IsNoStallOfTheLoop) {
  house h;
  schedule::job_definition d = every("a", 1000);
  d.misfire = schedule::misfire_policy::skip;
  h.job(d);
  h.up();
  h.run_to(500);
  h.it->pause("a");
  h.run_to(60'500);
  h.it->resume("a");
  h.run_to(61'500);
  EXPECT_EQ(h.take("loop_stalled"), lines{});
}

TEST(Cancel, StopsARun) {
  house h;
  h.job(every("a", 60'000))->takes = microseconds::max();
  h.up();
  h.run_to(100);
  EXPECT_TRUE(h.it->cancel(h.it->status("a")->active.at(0)));
  EXPECT_FALSE(h.it->cancel("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
  h.run_to(200);
  EXPECT_EQ(h.take("run_ended"), lines{"100 run_ended a 0 cancelled"});
}

TEST(Remove, StopsTheRunKeepsItsRecordAndForgetsTheJob) {
  house h;
  h.job(every("a", 1000))->takes = microseconds::max();
  h.job(every("b", 60'000));
  h.up();
  h.run_to(100);
  EXPECT_TRUE(h.it->remove("a"));
  EXPECT_FALSE(h.it->remove("a"));
  h.run_to(5000);
  EXPECT_EQ(h.take("run_ended"), (lines{"0 run_ended b 0 success", "100 run_ended a 0 cancelled removed"}));
  EXPECT_EQ(h.it->jobs(), std::vector<std::string>{"b"});
  EXPECT_EQ(h.memory->load().jobs.size(), 1U);
}

TEST(Remove, AJobThatIsAddedAgainMeanwhileIsANewOne) {
  house h;
  schedule::job_definition d = every("a", 1000);
  d.misfire = schedule::misfire_policy::skip;
  const auto body = h.job(d);
  body->takes = microseconds::max();
  body->deaf = true;  // its end takes long
  h.up();
  h.run_to(100);
  h.it->pause("a");
  h.run_to(200);
  h.it->remove("a");
  h.run_to(5250);
  const auto again = h.job(d);
  h.it->add(d, again);
  h.run_to(7000);
  EXPECT_FALSE(h.it->status("a")->paused);
  EXPECT_EQ(h.take("loop_stalled"), lines{});
  h.run_to(7010);
  for (const ledger::run_record& r : h.records()) {
    if (r.outcome != slot_outcome::ran) {
      EXPECT_GE(r.key.nominal, h.at(5250)) << "a slot of the time in which there was no such job";
      EXPECT_EQ(r.outcome, slot_outcome::skipped);
    }
  }
  EXPECT_EQ(h.it->status("a")->next_due, h.at(7250)) << "its grid begins with the adding";
}

TEST(Add, ThatCannotReadTheHistoryThrowsAndLeavesNothing) {
  house h;
  h.job(every("a", 1000));
  h.up();
  h.run_to(100);
  h.store->unreadable = true;
  const auto body = std::make_shared<scripted>(h);
  EXPECT_THROW(h.it->add(every("b", 1000), body), std::runtime_error);
  EXPECT_EQ(h.it->jobs(), lines{"a"});
  h.run_to(1500);
  EXPECT_EQ(body->started, 0U);
  h.store->unreadable = false;
  h.it->add(every("b", 1000), body);
  h.run_to(1600);
  EXPECT_EQ(body->started, 1U);
}

TEST(Edit, OfARunningServiceIsJudgedFromNow) {
  house h;
  const auto body = h.job(every("a", 1000));
  h.up();
  h.run_to(1500);
  h.it->add(every("a", 400), body);
  h.run_to(2000);
  EXPECT_EQ(h.take("attempt_started"), (lines{"0 attempt_started a 0#1", "1000 attempt_started a 1000#1",
                                              "1500 attempt_started a 1500#1", "1900 attempt_started a 1900#1"}));
}

TEST(Status, SaysWhatHappened) {
  house h;
  const auto body = h.job(every("a", 1000));
  body->takes = ms(30);
  h.up();
  h.run_to(500);
  body->result = run_result::failed;
  h.run_to(1500);
  const job_status s = *h.it->status("a");
  EXPECT_EQ(s.runs, 2U);
  EXPECT_EQ(s.failures, 1U);
  EXPECT_EQ(s.last_error, "it went wrong");
  EXPECT_EQ(s.last_start, h.at(1000));
  EXPECT_EQ(s.last_duration, ms(30));
  EXPECT_EQ(s.next_due, h.at(2000));
  ASSERT_EQ(s.recent.size(), 2U);
  EXPECT_EQ(s.recent[1].result, run_result::failed);
  EXPECT_FALSE(h.it->status("b"));
}

TEST(Status, ShowsNoSlotThatWillNotBe) {
  house h;
  schedule::job_definition off = every("off", 1000);
  off.enabled = false;
  h.job(off);
  h.job(every("paused", 1000));
  h.up();
  EXPECT_EQ(h.it->status("off")->next_due, std::nullopt);
  h.run_to(100);
  h.it->pause("paused");
  h.run_to(200);
  h.crash();
  h.up();
  for (const char* const name : {"off", "paused"}) EXPECT_EQ(h.it->status(name)->next_due, std::nullopt) << name;
}

TEST(Status, AnIntervalJobThatIsDueWaits) {
  house h;
  h.options.max_running = 1;
  h.job(every("a", 60'000, schedule::interval_from::end))->takes = ms(5000);
  h.job(every("b", 60'000, schedule::interval_from::end));
  h.up();
  h.run_to(1000);
  EXPECT_EQ(h.it->status("b")->waiting, 1U);
  EXPECT_EQ(h.it->status("b")->next_due, std::nullopt);
  EXPECT_EQ(h.it->statistics().waiting, 1U);
}

TEST(ManualOnly, JudgesNoSlotAndLeavesTheSchedulesAlone) {
  house h;
  h.job(every("a", 1000));
  h.up();
  h.run_to(1500);
  h.crash();
  const ledger::job_record before = h.memory->load().jobs.at(0);
  h.options.manual_only = true;
  h.up();
  h.it->trigger("a", h.it->new_run_id());
  h.take();
  h.run_to(5500);
  EXPECT_EQ(h.take("attempt_started"), lines{"1500 attempt_started a manual 1500#1"});
  const ledger::job_record after = h.memory->load().jobs.at(0);
  EXPECT_EQ(after.watermark, before.watermark);
  EXPECT_EQ(after.trigger, before.trigger);
}

TEST(Idle, NobodyIsWokenWithoutNeed) {
  house h;
  h.job(every("a", 3'600'000));
  h.job(cron("b", "0 0 1 1 *"));
  h.job(by_hand("c"));
  h.up();
  h.run_to(1000);
  const std::uint64_t before = h.loop->statistics().timers;
  h.run_to(3'599'000);
  EXPECT_EQ(h.loop->statistics().timers, before);
  EXPECT_LE(h.store->beats.size(), 2U) << "signs of life only while a run is going";
}

TEST(Heartbeat, OnceASecondWhileARunIsGoing) {
  house h;
  h.job(every("a", 3'600'000))->takes = ms(10'500);
  h.up();
  h.run_to(20'000);
  EXPECT_EQ(h.store->beats.size(), 11U);
}

}  // namespace
}  // namespace looptask::engine
