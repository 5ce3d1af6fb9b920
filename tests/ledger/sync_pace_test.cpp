#include "ledger/sync_pace.hpp"

#include <gtest/gtest.h>

namespace looptask::ledger {
namespace {

using namespace std::chrono_literals;

// Syncs as fast as the pace allows, each taking `length`, over `span`: how many begin.
int saturate(sync_pace& pace, monotonic_time from, duration span, duration length) {
  int count = 0;
  for (monotonic_time now = std::max(from, pace.earliest()); now < from + span; now = std::max(now + length, pace.earliest())) {
    pace.began(now);
    ++count;
  }
  return count;
}

TEST(SyncPace, TheFirstSyncNeedNotWait) {
  const sync_pace pace;
  EXPECT_LE(pace.earliest(), monotonic_time(0s));
}

TEST(SyncPace, ABurstIsSpacedByAMillisecond) {
  sync_pace pace;
  monotonic_time now(1h);
  for (int i = 0; i < sync_pace::burst; ++i) {
    EXPECT_LE(pace.earliest(), now) << i;
    pace.began(now);
    EXPECT_GE(pace.earliest(), now + 1ms);
    now += 1ms;
  }
}

TEST(SyncPace, NoTimeSpanHoldsMoreThanTheBurstAndItsShare) {
  for (const duration span : {duration(1ms), duration(20ms), duration(100ms), duration(1s)}) {
    sync_pace pace;
    EXPECT_LE(saturate(pace, monotonic_time(1h), span, 0us), sync_pace::burst + span / sync_pace::lasting_gap);
  }
}

TEST(SyncPace, ALastingLoadOfOneThousandStartsASecondSharesEachSyncAmongFive) {
  sync_pace pace;
  EXPECT_LE(saturate(pace, monotonic_time(1h), 10s, 200us), 10'000 / 5);
}

TEST(SyncPace, ALoadBelowItsRateNeverWaits) {
  sync_pace pace;
  for (monotonic_time now(1h); now < monotonic_time(1h + 10s); now += 7ms) {
    ASSERT_LE(pace.earliest(), now);
    pace.began(now);
  }
}

TEST(SyncPace, AQuietTimeRestoresTheBurstAndNoMore) {
  sync_pace pace;
  saturate(pace, monotonic_time(1h), 10s, 200us);
  const int fresh = saturate(pace, monotonic_time(2h), 120ms, 0us);
  EXPECT_GE(fresh, sync_pace::burst);
  EXPECT_LE(fresh, sync_pace::burst + 20);
}

}  // namespace
}  // namespace looptask::ledger
