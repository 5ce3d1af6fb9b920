// Processes that KILL does not end, for a while or for ever: their run keeps its place until they are gone.
#include <gtest/gtest.h>

#include "engine/house.hpp"

namespace looptask::engine {
namespace {

using namespace std::chrono_literals;

schedule::job_definition timed(std::string name, std::int64_t interval_ms, std::int64_t timeout_ms) {
  schedule::job_definition d = every(std::move(name), interval_ms);
  d.timeout = ms(timeout_ms);
  return d;
}

TEST(Unkillable, ARunKeepsItsPlaceUntilNothingOfItIsLeft) {
  house h;
  h.world.program("stuck", {.takes = sim::for_ever, .on_signal = sim::reaction::ignores, .outlives_kill = 60s});
  h.command(timed("a", 1000, 2500), {"stuck"});
  h.up();
  h.run_to(71'900);
  EXPECT_EQ(h.world.statistics().spawned, 1U) << "nothing starts beside what is left";
  EXPECT_EQ(h.it->statistics().running, 1U);
  const lines told = h.take("leftovers_alive");
  ASSERT_GE(told.size(), 2U) << "killing goes on";
  EXPECT_EQ(told[0], "17500 leftovers_alive a 0#1") << "2.5 s timeout, 10 s until KILL, 5 s for it to take";
  EXPECT_LE(told.size(), 10U) << "less and less often";

  h.run_to(72'600);  // 12.5 s + 60 s
  const std::vector<ledger::run_record> records = h.records();
  const auto first = std::find_if(records.begin(), records.end(), [&](const auto& r) { return r.key.nominal == h.at(0); });
  ASSERT_NE(first, records.end());
  EXPECT_EQ(first->result, run_result::timeout);
  EXPECT_EQ(first->ended, h.at(72'500)) << "known as soon as it has died";
  h.run_to(73'100);
  EXPECT_EQ(h.world.statistics().spawned, 2U) << "and the job goes on";
}

TEST(Unkillable, AChildThatOutlivesItsRunKeepsThePlaceToo) {
  house h;
  h.world.program("parent",
                  {.takes = 100ms, .children = {{.holds_output = false, .outlives_kill = 20s}, {.holds_output = false}}});
  h.command(every("a", 10'000), {"parent"});
  h.up();
  h.run_to(20'000);
  EXPECT_EQ(h.world.statistics().spawned, 1U);
  h.run_to(30'000);
  EXPECT_FALSE(h.take("leftovers_alive").empty());
  const ledger::run_record first = h.records().back();
  EXPECT_EQ(first.result, run_result::success) << first.detail;
  EXPECT_EQ(first.why, cause::leftover);
}

TEST(Unkillable, TheServiceStopsWithinItsBoundAndSaysWhatIsLeft) {
  house h;
  h.options.shutdown_grace = ms(1000);
  h.world.program("stuck", {.takes = sim::for_ever, .on_signal = sim::reaction::ignores, .outlives_kill = sim::for_ever});
  h.command(every("a", 60'000), {"stuck"});
  h.up();
  h.run_to(500);
  h.stop();
  h.run_to(15'000);
  ASSERT_TRUE(h.stopped);
  EXPECT_EQ(h.stopped->attempts_left, 1U);
  EXPECT_EQ(h.stopped->message, "1 attempts did not end although they were killed");
}

TEST(Unkillable, TheNextLifeWaitsForItAsWell) {
  house h;
  h.world.program("stuck", {.takes = sim::for_ever, .outlives_kill = 30s});
  h.command(every("a", 1000), {"stuck"});
  h.up();
  h.run_to(500);
  h.up();
  h.run_to(30'400);
  EXPECT_EQ(h.world.statistics().spawned, 1U);
  EXPECT_FALSE(h.take("leftovers_alive").empty());
  h.run_to(100'000);
  EXPECT_GE(h.world.statistics().spawned, 2U);
}

}  // namespace
}  // namespace looptask::engine
