#include <looptask/loop.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <looptask/real_host.hpp>

namespace looptask {
namespace {

using std::chrono::hours;

// Counts how often it ran and how often it was destroyed.
struct tally {
  std::atomic<int> made = 0;
  std::atomic<int> ran = 0;
  std::atomic<int> gone = 0;
};
class counted {
 public:
  explicit counted(tally& t) : tally_(&t) { ++t.made; }
  counted(counted&& other) noexcept : tally_(std::exchange(other.tally_, nullptr)) {}
  ~counted() {
    if (tally_ != nullptr) ++tally_->gone;
  }
  void operator()() const { ++tally_->ran; }

 private:
  tally* tally_;
};

TEST(Post, FromManyThreadsEveryPieceRunsOnceAndInItsThreadsOrder) {
  constexpr int threads = 4;
  constexpr int each = 20'000;
  real_host host;
  loop l(host);
  std::vector<int> next(threads, 0);
  int disorder = 0;
  int left = threads * each;
  loop_hold hold = l.hold();
  std::vector<std::thread> producers;
  for (int t = 0; t < threads; ++t) {
    producers.emplace_back([&, t, handle = l.handle()] {
      for (int i = 0; i < each; ++i) {
        handle.post([&, t, i] {
          if (next[static_cast<std::size_t>(t)]++ != i) ++disorder;
          if (--left == 0) hold = {};
        });
      }
    });
  }
  l.run();
  for (std::thread& t : producers) t.join();
  EXPECT_EQ(left, 0);
  EXPECT_EQ(disorder, 0);
}

// One post at a time, each to a loop that has gone to sleep: a lost wake-up would hang.
TEST(Post, WakesASleepingLoopEachTime) {
  constexpr int rounds = 5'000;
  real_host host;
  loop l(host);
  std::atomic<int> done = 0;
  loop_hold hold = l.hold();
  std::thread producer([&, handle = l.handle()] {
    for (int i = 1; i <= rounds; ++i) {
      handle.post([&, i] {
        done = i;
        done.notify_one();
        if (i == rounds) hold = {};
      });
      for (int seen = done; seen < i; seen = done) done.wait(seen);
    }
  });
  l.run();
  producer.join();
  EXPECT_EQ(done, rounds);
}

TEST(Post, WorkPostedAroundTheEndOfTheLoopRunsOrIsDestroyedExactlyOnce) {
  for (int round = 0; round < 200; ++round) {
    tally all;
    std::atomic<bool> end = false;
    std::atomic<int> accepted = 0;
    std::atomic<int> refused = 0;
    std::vector<std::thread> producers;
    {
      real_host host;
      loop l(host);
      for (int t = 0; t < 8; ++t) {
        producers.emplace_back([&, handle = l.handle()] {
          for (int i = 0; i < 5'000 && !end; ++i) ++(handle.post(counted(all)) ? accepted : refused);
        });
      }
      l.call_soon([&] { l.call_soon([&] { l.stop(); }); });
      const loop_hold hold = l.hold();
      l.run();
    }
    end = true;
    for (std::thread& t : producers) t.join();
    EXPECT_EQ(all.made, all.gone);
    EXPECT_EQ(all.made, accepted + refused);
    EXPECT_LE(all.ran, accepted);
  }
}

TEST(Post, StopFromAnotherThreadEndsASleepingLoop) {
  for (int round = 0; round < 500; ++round) {
    real_host host;
    loop l(host);
    l.call_later(hours(1), [] { FAIL(); });
    std::thread stopper([handle = l.handle()] { EXPECT_TRUE(handle.stop()); });
    l.run();
    stopper.join();
  }
}

// A real host that counts how often its reactor is woken.
class woken_host final : public host, private reactor_port {
 public:
  std::atomic<int> wakes = 0;

  void attach(inbox& home) override { real_.attach(home); }
  void detach() noexcept override { real_.detach(); }
  clock_port& clock() noexcept override { return real_.clock(); }
  reactor_port& reactor() noexcept override { return *this; }
  signal_port& signals() noexcept override { return real_.signals(); }
  process_port& processes() noexcept override { return real_.processes(); }
  random_port& random() noexcept override { return real_.random(); }
  file_port& files() noexcept override { return real_.files(); }
  worker_port& workers() noexcept override { return real_.workers(); }
  network_port& network() override { return real_.network(); }

 private:
  void watch(int fd, readiness wanted, readiness_handler& handler) override { real_.reactor().watch(fd, wanted, handler); }
  void rewatch(int fd, readiness wanted) override { real_.reactor().rewatch(fd, wanted); }
  void unwatch(int fd) noexcept override { real_.reactor().unwatch(fd); }
  bool wait(std::optional<monotonic_time> until) override { return real_.reactor().wait(until); }
  int native_fd() const noexcept override { return real_.reactor().native_fd(); }
  void wake() noexcept override {
    ++wakes;
    real_.reactor().wake();
  }

  mutable real_host real_;  // its ports are not const
};

TEST(Post, ABusyLoopIsNotWoken) {
  woken_host host;
  loop l(host);
  int ran = 0;
  l.call_soon([&] {  // as long as another thread posts
    std::thread([&] {
      for (int i = 0; i < 1000; ++i) l.post([&ran] { ++ran; });
    }).join();
  });
  l.run();
  EXPECT_EQ(ran, 1000);
  EXPECT_EQ(host.wakes, 0);
}

// The posts find the loop asleep (the first) or awake (those that come before it has run again).
TEST(Post, ABurstWakesASleepingLoopOnce) {
  woken_host host;
  loop l(host);
  int ran = 0;
  std::atomic<bool> posted = false;
  std::thread producer;
  l.call_later(std::chrono::milliseconds(1), [&] {
    producer = std::thread([&, hold = std::make_shared<loop_hold>(l.hold())]() mutable {
      l.post([&, hold = std::move(hold)] {
        ++ran;
        posted.wait(false);  // so that the loop does not fall asleep in the middle of the burst
      });
      for (int i = 1; i < 1000; ++i) l.post([&ran] { ++ran; });
      posted = true;
      posted.notify_one();
    });
  });
  l.run();
  producer.join();
  EXPECT_EQ(ran, 1000);
  EXPECT_LE(host.wakes, 1);
}

}  // namespace
}  // namespace looptask
