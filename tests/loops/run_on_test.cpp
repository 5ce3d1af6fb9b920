// Several loops in one process, and work that goes from one to another.
#include <looptask/run_on.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <looptask/memory_pool.hpp>
#include <looptask/real_host.hpp>
#include <looptask/sleep.hpp>

namespace looptask {
namespace {

using std::chrono::hours;

// A loop on a thread of its own, until end().
class other_loop {
 public:
  other_loop() {
    std::promise<loop_handle> made;
    std::future<loop_handle> handle = made.get_future();
    thread_ = std::thread([made = std::move(made)]() mutable {
      real_host host;
      loop here(host);
      const loop_hold hold = here.hold();
      made.set_value(here.handle());
      here.run();
    });
    handle_ = handle.get();
  }
  ~other_loop() { end(); }
  other_loop(const other_loop&) = delete;
  other_loop& operator=(const other_loop&) = delete;
  void end() {
    handle_.stop();
    if (thread_.joinable()) thread_.join();
  }
  const loop_handle& handle() const { return handle_; }
  std::thread::id thread() const { return thread_.get_id(); }

 private:
  std::thread thread_;
  loop_handle handle_;
};

struct RunOn : testing::Test {
  real_host host;
  std::optional<looptask::loop> owned{std::in_place, host};
  looptask::loop& loop = *owned;
  other_loop other;
};

TEST_F(RunOn, RunsOnTheOtherThreadAndBringsTheResultHome) {
  const auto main = [this]() -> task<> {
    auto ask = [kept = std::make_unique<int>(7)]() -> task<std::pair<std::thread::id, std::unique_ptr<int>>> {
      co_await yield();
      co_return std::pair(std::this_thread::get_id(), std::make_unique<int>(*kept * 6));
    };
    const auto [where, value] = co_await run_on(other.handle(), std::move(ask));
    EXPECT_EQ(where, other.thread());
    EXPECT_EQ(*value, 42);
  };
  loop.run(main());
}

TEST_F(RunOn, BringsExceptionsHome) {
  const auto main = [this]() -> task<> {
    auto fail = []() -> task<int> {
      co_await yield();
      throw std::runtime_error("over there");
    };
    bool thrown = false;
    try {
      co_await run_on(other.handle(), fail);
    } catch (const std::runtime_error& e) {
      thrown = true;
      EXPECT_STREQ(e.what(), "over there");
    }
    EXPECT_TRUE(thrown);
  };
  loop.run(main());
}

TEST_F(RunOn, CancellingEndsTheTaskOverThereFirst) {
  std::atomic<bool> began = false;
  std::atomic<bool> ended = false;
  const auto main = [&]() -> task<> {
    cancel_scope scope(loop);
    const loop_handle home = loop.handle();
    auto wait = [&, home]() -> task<> {
      struct at_end {
        std::atomic<bool>& flag;
        ~at_end() { flag = true; }
      } const mark{ended};
      began = true;
      home.post([&scope] { scope.cancel(); });
      co_await sleep_for(hours(1));
    };
    auto work = [](loop_handle where, decltype(wait) what) -> task<> { co_await run_on(std::move(where), std::move(what)); };
    const bool done = co_await scope.run(work(other.handle(), wait));
    EXPECT_FALSE(done);
    EXPECT_TRUE(began);
    EXPECT_TRUE(ended);
  };
  loop.run(main());
}

TEST_F(RunOn, CancelledBeforeItRunsNothingOverThere) {
  std::atomic<bool> ran = false;
  const auto main = [&]() -> task<> {
    cancel_scope scope(loop);
    scope.cancel();
    auto touch = [&]() -> task<> {
      ran = true;
      co_return;
    };
    auto work = [](loop_handle where, decltype(touch) what) -> task<> { co_await run_on(std::move(where), std::move(what)); };
    const bool done = co_await scope.run(work(other.handle(), touch));
    EXPECT_FALSE(done);
  };
  loop.run(main());
  other.end();
  EXPECT_FALSE(ran);
}

TEST_F(RunOn, AResultThatTheTaskStillGivesIsDelivered) {
  const auto main = [this]() -> task<> {
    cancel_scope scope(loop);
    const loop_handle home = loop.handle();
    int got = 0;
    auto stubborn = [&scope, home]() -> task<int> {
      home.post([&scope] { scope.cancel(); });
      auto long_work = []() -> task<int> {
        co_await sleep_for(std::chrono::milliseconds(1));
        co_return 5;
      };
      co_return co_await shield(long_work());
    };
    auto work = [](loop_handle where, decltype(stubborn) what, int& result) -> task<> {
      result = co_await run_on(std::move(where), std::move(what));
      co_await yield();  // here the cancellation strikes
      result = -1;
    };
    const bool done = co_await scope.run(work(other.handle(), stubborn, got));
    EXPECT_FALSE(done);
    EXPECT_EQ(got, 5);
  };
  loop.run(main());
}

TEST_F(RunOn, SaysWhenTheOtherLoopIsGone) {
  other.end();
  auto nothing = []() -> task<> { co_return; };
  const auto main = [&]() -> task<> { co_await run_on(other.handle(), nothing); };
  EXPECT_THROW(loop.run(main()), loop_gone);
  const auto without = [&]() -> task<> { co_await run_on(loop_handle(), nothing); };
  EXPECT_THROW(loop.run(without()), loop_gone);
}

TEST_F(RunOn, SaysWhenTheOtherLoopGoesWhileTheTaskRuns) {
  auto end_of_all = [handle = other.handle()]() -> task<> {
    handle.stop();
    co_await sleep_for(hours(1));
  };
  const auto main = [&]() -> task<> { co_await run_on(other.handle(), end_of_all); };
  EXPECT_THROW(loop.run(main()), loop_gone);
}

TEST_F(RunOn, WhenThisLoopGoesTheTaskOverThereIsCancelled) {
  std::promise<void> ended;
  auto wait = [&, home = loop.handle()]() -> task<> {
    struct at_end {
      std::promise<void>& told;
      ~at_end() { told.set_value(); }
    } const mark{ended};
    home.stop();
    co_await sleep_for(hours(1));
  };
  const auto main = [](loop_handle where, decltype(wait) what) -> task<> {
    co_await run_on(std::move(where), std::move(what));
  };
  spawn(loop, main(other.handle(), wait));
  {
    const loop_hold hold = loop.hold();
    loop.run();
  }
  owned.reset();
  ended.get_future().get();
}

class bad_to_move {
 public:
  bad_to_move() = default;
  bad_to_move(bad_to_move&& other) : moves_(other.moves_ + 1) {
    if (moves_ > 2) throw std::runtime_error("moved too often");
  }
  bad_to_move& operator=(bad_to_move&&) = default;

 private:
  int moves_ = 0;
};

TEST_F(RunOn, AResultThatCannotBeMovedIsAnError) {
  auto make = []() -> task<bad_to_move> { co_return bad_to_move(); };
  const auto main = [&]() -> task<> { co_await run_on(other.handle(), make); };
  EXPECT_THROW(loop.run(main()), std::runtime_error);
}

TEST_F(RunOn, TasksHopBetweenLoopsAndLeaveNothing) {
  const auto before = memory_pool::live();
  const auto main = [this]() -> task<> {
    int sum = 0;
    for (int i = 0; i < 2'000; ++i) {
      auto there = [i, home = loop.handle()]() -> task<int> {
        auto back = [i]() -> task<int> { co_return i; };
        co_return co_await run_on(home, back);
      };
      sum += co_await run_on(other.handle(), there);
    }
    EXPECT_EQ(sum, 1'999'000);
  };
  loop.run(main());
  other.end();
  EXPECT_EQ(memory_pool::live(), before);
}

TEST_F(RunOn, WorkThatIsPostedMayAskForItsLoop) {
  std::promise<std::thread::id> ran;
  other.handle().post_to(
      [&ran](looptask::loop& there) { there.call_soon([&ran] { ran.set_value(std::this_thread::get_id()); }); });
  EXPECT_EQ(ran.get_future().get(), other.thread());
}

}  // namespace
}  // namespace looptask
