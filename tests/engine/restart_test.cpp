// One life after another over the same ledger.
#include <gtest/gtest.h>

#include "engine/house.hpp"

namespace looptask::engine {
namespace {

using schedule::interval_from;

TEST(Crash, ARunThatWasGoingIsInterruptedAtTheLastSignOfLife) {
  house h;
  h.job(every("a", 60'000))->takes = microseconds::max();
  h.up();
  h.world.crash_at(ms(3700));
  EXPECT_FALSE(h.run_to(5000));
  h.world.pass_until(ms(9000));
  h.up();
  h.run_to(9500);
  const ledger::run_record record = h.records().at(0);
  EXPECT_EQ(record.result, run_result::interrupted);
  EXPECT_EQ(record.why, cause::down);
  EXPECT_EQ(record.ended, h.at(3000));
  EXPECT_EQ(record.attempts.at(0).result, run_result::interrupted);
}

TEST(Crash, LeftoversAreKilledBeforeTheJobRunsAgainAndOthersAreNotDelayed) {
  house h;
  h.world.program("work", sim::program{.takes = sim::for_ever});
  h.command(every("a", 1000), {"work"});
  h.job(every("b", 1000));
  h.up();
  h.world.crash_at(ms(2500));
  EXPECT_FALSE(h.run_to(5000));
  EXPECT_EQ(h.world.alive().size(), 1U);
  h.world.pass_until(ms(3200));
  h.world.search_takes(ms(50));
  h.up();
  h.take();
  h.run_to(3300);
  const lines log = h.take();
  const auto position = [&](const std::string& line) { return std::find(log.begin(), log.end(), line) - log.begin(); };
  EXPECT_LT(position("3250 leftovers_killed a"), position("3250 attempt_started a 3000#1"));
  // Killed once more in between, the next life must find the run open, or nobody would look for its processes.
  EXPECT_LT(position("3250 leftovers_killed a"), position("3250 run_ended a 0 interrupted down"));
  EXPECT_NE(position("3250 run_ended a 0 interrupted down"), static_cast<std::ptrdiff_t>(log.size()));
  EXPECT_NE(position("3200 attempt_started b 3000#1"), static_cast<std::ptrdiff_t>(log.size()));
  EXPECT_EQ(h.world.alive().size(), 1U) << "the old one is dead, the new one lives";
}

TEST(Crash, AJobThatWaitsForLeftoversTakesNoRoomFromOthers) {
  house h;
  h.options.max_running = 1;
  h.world.program("work", sim::program{.takes = sim::for_ever});
  h.command(every("a", 1000), {"work"});
  h.up();
  h.world.crash_at(ms(2500));
  EXPECT_FALSE(h.run_to(5000));
  const auto b = h.job(every("b", 60'000));
  h.up();
  h.run_to(2600);
  EXPECT_LE(h.it->statistics().running, 1U);
  h.run_to(2700);
  EXPECT_EQ(b->started, 1U);
}

TEST(Crash, BetweenClaimAndStartTheRunIsInterruptedAndNotMadeTwice) {
  house h;
  const auto body = h.job(every("a", 60'000));
  h.store->holding = true;
  h.up();
  h.run_to(100);
  h.memory->submit(h.store->seen.back(), [](const ledger::commit_error&) {});  // it became durable, but nobody heard
  h.crash();
  h.store->holding = false;
  h.up();
  h.run_to(200);
  EXPECT_EQ(body->started, 0U);
  EXPECT_EQ(h.records().at(0).result, run_result::interrupted);
}

TEST(Restart, ARebootJobRunsOnceInEachLife) {
  house h;
  h.job(cron("a", "@reboot"))->takes = ms(100);
  h.up();
  h.run_to(5000);
  h.crash();
  h.world.pass_until(ms(7000));
  h.up();
  h.run_to(20'000);
  EXPECT_EQ(h.take("attempt_started"), (lines{"0 attempt_started a 0#1", "7000 attempt_started a 7000#1"}));
  EXPECT_EQ(h.take("loop_stalled"), lines{});
}

TEST(Restart, AJobThatIsAddedLaterIsNotOfThisStart) {
  house h;
  h.up();
  h.run_to(100);
  h.it->add(cron("a", "@reboot"), std::make_shared<scripted>(h));
  h.run_to(5000);
  EXPECT_EQ(h.take("attempt_started"), lines{});
}

TEST(Restart, MissedSlotsGoToThePolicyOnce) {
  house h;
  h.job(every("once", 1000));
  schedule::job_definition skip = every("skip", 1000);
  skip.misfire = schedule::misfire_policy::skip;
  h.job(skip);
  h.up();
  h.run_to(500);
  h.crash();
  h.world.pass_until(ms(7500));
  h.up();
  h.take();
  h.run_to(8500);
  EXPECT_EQ(h.take("slot_not_run"),
            (lines{"7500 slot_not_run once 1000..6000 coalesced coalesced", "7500 slot_not_run skip 1000..7000 missed down"}));
  EXPECT_EQ(h.it->status("once")->since_start.attempts, 2U);
  EXPECT_EQ(h.it->status("skip")->since_start.attempts, 1U);
}

TEST(Restart, IntervalJobsKeepTheirPhase) {
  house h;
  h.job(every("end", 10'000, interval_from::end))->takes = ms(300);
  h.job(every("grid", 10'000, interval_from::grid))->takes = ms(300);
  h.job(every("start", 10'000, interval_from::start))->takes = ms(300);
  h.up();
  h.run_to(1000);
  h.crash();
  h.world.pass_until(ms(4000));
  h.up();
  h.take();
  h.run_to(15'000);
  EXPECT_EQ(h.take("attempt_started"), (lines{"10000 attempt_started grid 10000#1", "10000 attempt_started start 10000#1",
                                              "10300 attempt_started end 10300#1"}));
}

TEST(Restart, OverARebootElapsedTimeComesFromTheWallClock) {
  house h;
  h.job(every("a", 10'000));
  h.up();
  h.run_to(1000);
  h.crash();
  h.world.reboot();
  h.world.pass_until(ms(6000));
  h.up();
  h.take();
  h.run_to(12'000);
  EXPECT_EQ(h.take("attempt_started"), lines{"10000 attempt_started a 10000#1"});
}

TEST(Restart, OverARebootWithAWrongWallClockElapsedTimeNeverGoesBack) {
  house h;
  h.job(every("a", 10'000, interval_from::end));
  h.up();
  h.run_to(25'000);
  h.crash();
  h.world.reboot();
  h.world.wall_jump(ms(25'000), ms(-86'400'000));
  h.up();
  h.take();
  h.run_to(27'000);
  EXPECT_EQ(h.take("attempt_started"), lines{}) << "5 s after the last end";
  h.run_to(40'000);
  EXPECT_EQ(h.take("attempt_started"), lines{"30000 attempt_started a 30000#1"})
      << "and the day it was set back is not waited for";
}

TEST(Restart, AnEditedTriggerIsJudgedFromTheStart) {
  house h;
  h.job(every("a", 1000));
  h.up();
  h.run_to(1500);
  h.crash();
  h.redefine(every("a", 700));
  h.world.pass_until(ms(6100));
  h.up();
  h.take();
  h.run_to(7000);
  EXPECT_EQ(h.take("attempt_started"), (lines{"6100 attempt_started a 6100#1", "6800 attempt_started a 6800#1"}));
}

TEST(Restart, AJobThatIsNotAddedAgainIsRemoved) {
  house h;
  h.job(every("a", 60'000))->takes = microseconds::max();
  h.job(every("b", 60'000));
  h.up();
  h.run_to(100);
  h.crash();
  h.drop("a");
  h.up();
  h.run_to(200);
  EXPECT_EQ(h.memory->load().jobs.size(), 1U);
  EXPECT_TRUE(h.memory->load().unfinished.empty());
}

TEST(Restart, AWallClockBehindTheLedgerMakesWallClockJobsWaitLoudly) {
  house h;
  h.job(cron("cron", "* * * * *"));
  h.job(every("every", 60'000));
  h.up();
  h.run_to(130'000);
  h.crash();
  h.world.wall_jump(ms(130'000), ms(-7'200'000));
  h.up();
  h.take();
  h.run_to(250'000);
  lines log = h.take();
  EXPECT_EQ(std::count(log.begin(), log.end(), "130000 clock_implausible "), 1);
  EXPECT_FALSE(h.it->statistics().wall_clock_plausible);
  for (const std::string& line : log) EXPECT_EQ(line.find("attempt_started cron"), std::string::npos) << line;
  EXPECT_NE(std::find(log.begin(), log.end(), "180000 attempt_started every 180000#1"), log.end());
  h.world.wall_jump(ms(250'000), ms(7'200'000));  // set right
  h.run_to(310'000);
  EXPECT_TRUE(h.it->statistics().wall_clock_plausible);
  EXPECT_EQ(h.take("attempt_started").front(), "250000 attempt_started cron 240000#1") << "the missed ones, once";
}

TEST(Restart, TheOperatorsWordMakesItACorrection) {
  house h;
  h.job(cron("cron", "* * * * *"));
  h.up();
  h.run_to(130'000);
  h.crash();
  h.world.wall_jump(ms(130'000), ms(-14'400'000));
  h.up();
  h.run_to(131'000);
  h.take();
  h.it->confirm_wall_clock();
  h.run_to(190'000);
  EXPECT_EQ(h.take("attempt_started"), lines{"180000 attempt_started cron -14220000#1"});
  EXPECT_EQ(h.records().back().key.epoch, 1U);
}

TEST(Restart, ANameUsedAgainDoesNotCollideWithItsOldRecords) {
  house h;
  h.job(cron("a", "* * * * *"));
  h.up();
  h.run_to(130'000);
  h.it->remove("a");
  h.run_to(131'000);
  h.crash();
  h.world.wall_jump(ms(131'000), ms(-120'000));
  h.up();
  h.take();
  h.run_to(190'000);
  EXPECT_EQ(h.take("record_refused"), lines{});
  EXPECT_FALSE(h.records().empty());
}

TEST(Stall, SlotsOfAStallAreMissedAndTheStallIsTold) {
  house h;
  schedule::job_definition d = every("a", 1000);
  d.misfire = schedule::misfire_policy::skip;
  h.job(d);
  h.up();
  h.world.stall(ms(1500), ms(5500));
  h.run_to(6500);
  const lines log = h.take();
  EXPECT_NE(std::find(log.begin(), log.end(), "5500 slot_not_run a 2000..5000 missed stalled"), log.end());
  EXPECT_NE(std::find(log.begin(), log.end(), "5500 loop_stalled "), log.end());
}

TEST(Stall, IsToldOnceHoweverManyJobsFindItOut) {
  house h;
  for (const char* const name : {"a", "b", "c"}) h.job(every(name, 1000));
  h.job(every("d", 1000, interval_from::grid, 300));
  h.up();
  h.world.stall(ms(1500), ms(5500));
  h.run_to(6500);
  EXPECT_EQ(h.take("loop_stalled").size(), 1U);
  h.world.stall(ms(7500), ms(9500));
  h.run_to(10'500);
  EXPECT_EQ(h.take("loop_stalled").size(), 1U) << "another one";
}

TEST(Stall, ShorterThanTheGraceIsOnlyLate) {
  house h;
  h.job(every("a", 1000));
  h.up();
  h.world.stall(ms(1500), ms(2900));
  h.run_to(2950);
  EXPECT_EQ(h.take("attempt_started").back(), "2900 attempt_started a 2000#1");
}

}  // namespace
}  // namespace looptask::engine
