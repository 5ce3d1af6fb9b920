#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <looptask/looptask.hpp>

namespace looptask {
namespace {

// Counts the values that were not moved from: each is destroyed once.
struct tally {
  std::atomic<int> made = 0;
  std::atomic<int> gone = 0;
};
class counted {
 public:
  explicit counted(tally& t) : tally_(&t) { ++t.made; }
  counted(counted&& other) noexcept : tally_(std::exchange(other.tally_, nullptr)) {}
  counted& operator=(counted&& other) noexcept {
    std::swap(tally_, other.tally_);
    return *this;
  }
  ~counted() {
    if (tally_ != nullptr) ++tally_->gone;
  }

 private:
  tally* tally_;
};

template <class T>
task<T> value_of_future(future<T> f) {
  co_return co_await f;
}

struct RemotePromise : testing::Test {
  std::int64_t before = memory_pool::live();
  real_host host;
  std::unique_ptr<looptask::loop> owned = std::make_unique<looptask::loop>(host);
  looptask::loop& loop = *owned;
  void TearDown() override {
    owned.reset();
    EXPECT_EQ(memory_pool::live(), before) << "states left over";
  }
};

TEST_F(RemotePromise, IsSettledByAnotherThread) {
  auto made = make_promise<std::string>(loop);
  std::thread other([p = std::move(made.first).remote()]() mutable { EXPECT_TRUE(p.set_value("from afar")); });
  EXPECT_EQ(loop.run(value_of_future(std::move(made.second))), "from afar");
  other.join();
}

TEST_F(RemotePromise, BringsNothingOrAnErrorHomeAsWell) {
  auto nothing = make_promise<>(loop);
  auto failure = make_promise<int>(loop);
  std::thread other([p = std::move(nothing.first).remote(), q = std::move(failure.first).remote()]() mutable {
    p.set_value();
    q.set_error(std::make_exception_ptr(std::runtime_error("over there")));
  });
  loop.run(value_of_future(std::move(nothing.second)));
  EXPECT_THROW(loop.run(value_of_future(std::move(failure.second))), std::runtime_error);
  other.join();
}

TEST_F(RemotePromise, ThatIsDroppedUnsettledBreaksIt) {
  auto made = make_promise<int>(loop);
  std::thread other([p = std::move(made.first).remote()] { EXPECT_TRUE(p); });
  other.join();  // with which its closure goes
  EXPECT_THROW(loop.run(value_of_future(std::move(made.second))), broken_promise);
}

TEST_F(RemotePromise, WhoseFutureIsGoneDestroysTheValueOnce) {
  tally t;
  auto made = make_promise<counted>(loop);
  remote_promise<counted> p = std::move(made.first).remote();
  static_cast<void>(future<counted>(std::move(made.second)));
  std::thread([&t, q = std::move(p)]() mutable { EXPECT_TRUE(q.set_value(counted(t))); }).join();
  loop.run();
  EXPECT_EQ(t.made, 1);
  EXPECT_EQ(t.gone, 1);
}

TEST_F(RemotePromise, ThatIsSettledWhenTheLoopIsGoneDestroysTheValueOnce) {
  tally t;
  auto made = make_promise<counted>(loop);
  remote_promise<counted> p = std::move(made.first).remote();
  owned.reset();
  std::thread([&t, q = std::move(p)]() mutable { EXPECT_FALSE(q.set_value(counted(t))); }).join();
  EXPECT_EQ(t.gone, 1);
  EXPECT_FALSE(made.second.ready());
}

TEST_F(RemotePromise, WhoseDeliveryIsUnderWayWhenTheLoopGoesDestroysTheValueOnce) {
  tally t;
  {
    auto made = make_promise<counted>(loop);
    auto waits = [](future<counted> f) -> task<> { const counted got = co_await f; };
    spawn(loop, waits(std::move(made.second)));
    std::thread([&t, q = std::move(made.first).remote()]() mutable { EXPECT_TRUE(q.set_value(counted(t))); }).join();
    owned.reset();
  }
  EXPECT_EQ(t.gone, 1);
}

class throws_when_moved {
 public:
  explicit throws_when_moved(int moves_before) : left_(moves_before) {}
  throws_when_moved(throws_when_moved&& other) : left_(other.left_ - 1) {
    if (left_ < 0) throw std::runtime_error("moved");
  }

 private:
  int left_;
};
// However many moves it takes until the value is in the hands of the task: each may throw, and then somebody hears of it.
TEST_F(RemotePromise, WhoseValueThrowsWhenItIsMovedIsNeverLost) {
  int heard_here = 0;
  int heard_there = 0;
  bool arrived = false;
  for (int moves = 0; !arrived; ++moves) {
    ASSERT_LT(moves, 100);
    auto made = make_promise<throws_when_moved>(loop);
    remote_promise<throws_when_moved> p = std::move(made.first).remote();
    try {
      throws_when_moved value(moves);
      p.set_value(std::move(value));
    } catch (const std::runtime_error&) {
      ++heard_there;
      EXPECT_TRUE(p) << "may be settled otherwise";
      p = {};
    }
    auto waits = [](future<throws_when_moved> f, int& heard, bool& there) -> task<> {
      try {
        static_cast<void>(co_await f);
        there = true;
      } catch (const broken_promise&) {
      } catch (const std::runtime_error&) {
        ++heard;
      }
    };
    loop.run(waits(std::move(made.second), heard_here, arrived));
  }
  EXPECT_GE(heard_there, 1);
  EXPECT_GE(heard_here, 2);
}

TEST_F(RemotePromise, ManyThreadsSettleManyInAnyOrder) {
  constexpr int threads = 4;
  constexpr int each = 500;
  std::vector<future<int>> all;
  std::vector<std::vector<remote_promise<int>>> shares(threads);
  for (int i = 0; i < threads * each; ++i) {
    auto made = make_promise<int>(loop);
    shares[static_cast<std::size_t>(i % threads)].push_back(std::move(made.first).remote());
    all.push_back(std::move(made.second));
  }
  std::vector<std::thread> others;
  for (auto& share : shares) {
    others.emplace_back([mine = std::move(share)]() mutable {
      for (auto& p : mine) p.set_value(1);
    });
  }
  int sum = 0;
  auto body = [](std::vector<future<int>> each_one, int& total) -> task<> {
    for (const future<int>& one : each_one) total += co_await one;
  };
  loop.run(body(std::move(all), sum));
  EXPECT_EQ(sum, threads * each);
  for (std::thread& t : others) t.join();
}

// The race for the last reference: futures go on the loop's thread while deliveries are posted, refused and dropped.
TEST_F(RemotePromise, AndItsFutureMayGoAtTheSameTime) {
  tally t;
  owned.reset();
  for (int round = 0; round < 200; ++round) {
    auto short_lived = std::make_unique<looptask::loop>(host);
    auto made = make_promise<counted>(*short_lived);
    std::atomic<bool> go = false;
    std::thread other([&t, &go, p = std::move(made.first).remote()]() mutable {
      while (!go.load()) std::this_thread::yield();
      p.set_value(counted(t));
    });
    go.store(true);
    short_lived.reset();
    made.second = {};
    other.join();
  }
  EXPECT_EQ(t.made, 200);
  EXPECT_EQ(t.gone, 200);
  before = memory_pool::live();  // blocks may have been given back on the other thread
}

}  // namespace
}  // namespace looptask
