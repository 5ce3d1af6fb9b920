#pragma once
// When the next sync may begin: at once after a quiet time, at most one a millisecond in a burst, and spread out under a
// lasting load, so that many batches share each. Pure; thread-safe as a plain value.
//
// Over any time span t at most `burst + t / lasting_gap` syncs begin: with 1,000 starts a second that is one for six starts,
// and a start waits 6 ms for its sync at most.
//
//   sync_pace pace;
//   if (pace.earliest() <= now) { pace.began(now); sync(); }
#include <algorithm>
#include <chrono>

#include <looptask/time.hpp>

namespace looptask::ledger {

class sync_pace {
 public:
  static constexpr duration least_gap = std::chrono::milliseconds(1);
  static constexpr duration lasting_gap = std::chrono::milliseconds(6);
  static constexpr int burst = 16;

  monotonic_time earliest() const noexcept { return std::max(after_last_, spent_until_ - (burst - 1) * lasting_gap); }

  void began(monotonic_time at) noexcept {
    after_last_ = at + least_gap;
    spent_until_ = std::max(spent_until_, at) + lasting_gap;
  }

 private:
  monotonic_time after_last_{};
  // When all syncs so far would be over if each took lasting_gap.
  monotonic_time spent_until_{};
};

}  // namespace looptask::ledger
