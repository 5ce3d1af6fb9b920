#include <looptask/loop.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <looptask/real_host.hpp>

namespace looptask {
namespace {

constexpr int producers = 8;
constexpr int each = 1'000'000;
constexpr int ahead = 4'096;  // a producer waits when so many of its pieces have not run: memory is not what is tested

// What one producer has posted and what became of it. Each on a line of its own.
struct alignas(64) lane {
  std::atomic<int> settled = 0;  // run or destroyed
  int ran = 0;                   // the loop's thread only, as the rest
  int destroyed = 0;
  int disorder = 0;
  int expected = 0;
  bool done = false;
};

bool all_done(const std::array<lane, producers>& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [](const lane& one) { return one.done; });
}

class piece {
 public:
  piece(lane& of, int number) noexcept : lane_(&of), number_(number) {}
  piece(piece&& other) noexcept : lane_(std::exchange(other.lane_, nullptr)), number_(other.number_) {}
  ~piece() {
    if (lane_ != nullptr) settle(lane_->destroyed);
  }
  void operator()() {
    if (lane_->expected++ != number_) ++lane_->disorder;
    settle(lane_->ran);
    lane_ = nullptr;
  }

 private:
  void settle(int& how) {
    ++how;
    lane_->settled.fetch_add(1, std::memory_order_release);
    lane_->settled.notify_one();
  }
  lane* lane_;
  int number_;
};

void wait_until_settled(lane& mine, int least) {
  for (int seen = mine.settled; seen < least; seen = mine.settled) mine.settled.wait(seen);
}

TEST(Post, EightThreadsPostAMillionEachWhileTheLoopIsStoppedAgainAndAgain) {
  std::array<lane, producers> lanes;
  real_host host;
  loop l(host);
  loop_hold hold = l.hold();
  std::vector<std::thread> threads;
  for (lane& mine : lanes) {
    threads.emplace_back([&hold, &lanes, &mine, handle = l.handle()] {
      for (int i = 0; i < each; ++i) {
        if (i % 1'024 == 0) {
          wait_until_settled(mine, i - ahead);
          handle.stop();
        }
        if (!handle.post(piece(mine, i))) return;
      }
      handle.post([&hold, &lanes, &mine] {
        mine.done = true;
        if (all_done(lanes)) hold = {};
      });
    });
  }
  while (!all_done(lanes)) l.run();
  for (std::thread& t : threads) t.join();
  for (const lane& one : lanes) {
    EXPECT_EQ(one.ran, each);
    EXPECT_EQ(one.destroyed, 0);
    EXPECT_EQ(one.disorder, 0);
  }
}

}  // namespace
}  // namespace looptask
