// The arithmetic below the rules: slots of a trigger, backoff, texts.
#include <gtest/gtest.h>

#include "decide/bench.hpp"
#include "schedule/backoff.hpp"
#include "schedule/series.hpp"
#include "schedule/trigger_text.hpp"
#include "schedule/wording.hpp"

namespace looptask::schedule {
namespace {

TEST(Series, GridFromTheBeginningOfTime) {
  const trigger grid = every_trigger{ms(10), interval_from::grid, ms(0)};
  EXPECT_EQ(next_slot(grid, at_ms(5), instant::min()), at_ms(5));
  EXPECT_EQ(next_slot(grid, at_ms(5), at_ms(4)), at_ms(5));
  EXPECT_EQ(next_slot(grid, at_ms(5), at_ms(5)), at_ms(15)) << "strictly later";
}

TEST(Series, RangesByDivisionAgreeWithASearch) {
  const trigger grid = every_trigger{ms(7), interval_from::grid, ms(0)};
  const trigger at_seconds = cron("*/7 * * * * *").trigger;
  for (const std::int64_t from : {-3, 0, 1, 6, 7, 20}) {
    for (const std::int64_t to : {-3, 0, 5, 6, 7, 8, 70, 71}) {
      for (const auto& [what, unit] : {std::pair(grid, std::int64_t{1}), std::pair(at_seconds, std::int64_t{1000})}) {
        slot_range slow;
        for (auto at = next_slot(what, at_ms(0), at_ms(from * unit)); at && *at <= at_ms(to * unit);
             at = next_slot(what, at_ms(0), *at)) {
          if (slow.count++ == 0) slow.first = *at;
          slow.before_last = slow.last;
          slow.last = *at;
        }
        const slot_range fast = slots_between(what, at_ms(0), at_ms(from * unit), at_ms(to * unit));
        ASSERT_EQ(fast.count, slow.count) << from << ".." << to;
        if (slow.count == 0) continue;
        EXPECT_EQ(std::pair(fast.first, fast.last), std::pair(slow.first, slow.last));
        EXPECT_TRUE(slow.count == 1 || fast.before_last == slow.before_last);
      }
    }
  }
}

TEST(Series, EveryOfACronExpressionIsAGridThatBeginsAfterOneInterval) {
  const auto made = std::get<every_trigger>(trigger_of(cron_expression::parse("@every 1m30s").value(), zone::utc()));
  EXPECT_EQ(made.from, interval_from::grid);
  EXPECT_EQ(made.interval, ms(90'000));
  EXPECT_EQ(made.initial_delay, ms(90'000));
  EXPECT_TRUE(on_wall_clock(trigger_of(cron_expression::parse("@hourly").value(), zone::utc())));
}

TEST(Backoff, Table) {
  struct row {
    backoff_kind kind;
    std::int64_t delay, max;
    std::uint32_t factor, n;
    std::int64_t expected;
  };
  const row rows[] = {
      {backoff_kind::fixed, 400, 60'000, 2, 1, 400},
      {backoff_kind::fixed, 400, 60'000, 2, 9, 400},
      {backoff_kind::linear, 300, 60'000, 2, 1, 300},
      {backoff_kind::linear, 300, 60'000, 2, 3, 900},
      {backoff_kind::linear, 300, 700, 2, 3, 700},
      {backoff_kind::exponential, 100, 700, 2, 1, 100},
      {backoff_kind::exponential, 100, 700, 2, 3, 400},
      {backoff_kind::exponential, 100, 700, 2, 4, 700},
      {backoff_kind::exponential, 100, 900, 3, 3, 900},
      {backoff_kind::exponential, 100, 700, 1, 4'000'000'000U, 100},
      {backoff_kind::exponential, 100, 700, 2, 4'000'000'000U, 700},
      {backoff_kind::fixed, 900, 700, 2, 1, 700},
  };
  for (const row& r : rows) {
    const retry_policy policy{
        .max = 9, .backoff = r.kind, .delay = ms(r.delay), .factor = r.factor, .max_delay = ms(r.max), .jitter = 0};
    EXPECT_EQ(retry_delay(policy, r.n, 0.9), ms(r.expected)) << static_cast<int>(r.kind) << " n " << r.n;
  }
}

TEST(Backoff, SaturatesInsteadOfOverflowing) {
  const retry_policy policy{.max = 9,
                            .backoff = backoff_kind::exponential,
                            .delay = microseconds::max() / 3,
                            .factor = 1000,
                            .max_delay = microseconds::max(),
                            .jitter = 1};
  EXPECT_EQ(retry_delay(policy, 50, 0.99), microseconds::max());
}

TEST(Backoff, JitterStretchesAfterTheCap) {
  const retry_policy policy{
      .max = 9, .backoff = backoff_kind::fixed, .delay = ms(1000), .factor = 2, .max_delay = ms(1000), .jitter = 0.1};
  EXPECT_EQ(retry_delay(policy, 1, 0.0), ms(1000));
  EXPECT_EQ(retry_delay(policy, 1, 0.5), ms(1050));
}

TEST(TriggerText, TellsTriggersApartAndNothingElse) {
  job_definition a = every(1000, interval_from::grid);
  job_definition b = a;
  b.overlap = overlap_policy::queue_one;
  EXPECT_EQ(trigger_text(a), trigger_text(b));
  EXPECT_NE(trigger_text(a), trigger_text(every(1000, interval_from::start)));
  EXPECT_NE(trigger_text(a), trigger_text(every(1001, interval_from::grid)));
  EXPECT_NE(trigger_text(a), trigger_text(every(1000, interval_from::grid, 5)));
  EXPECT_NE(trigger_text(cron("0 3 * * *")), trigger_text(cron("0 4 * * *")));
  b.enabled = false;
  EXPECT_EQ(trigger_text(b), "off " + trigger_text(a));
}

TEST(Wording, Durations) {
  EXPECT_EQ(to_text(microseconds(0)), "0ms");
  EXPECT_EQ(to_text(microseconds(12)), "12us");
  EXPECT_EQ(to_text(microseconds(1500)), "1.5ms");
  EXPECT_EQ(to_text(ms(250)), "250ms");
  EXPECT_EQ(to_text(ms(1500)), "1.5s");
  EXPECT_EQ(to_text(ms(61'020)), "1m1.02s");
  EXPECT_EQ(to_text(ms(10'800'001)), "3h0m0.001s");
  EXPECT_EQ(to_text(ms(-2000)), "-2s");
}

}  // namespace
}  // namespace looptask::schedule
