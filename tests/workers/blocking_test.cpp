// run_blocking on a real host: the threads, and what a cancellation and the end of the loop do to a call.
#include <looptask/blocking.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <looptask/looptask.hpp>

#include "workers/gate.hpp"

namespace looptask {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// A thread that has been joined may still be seen for a moment.
void wait_until_threads_are(std::ptrdiff_t many) {
  while (threads_of_this_process() != many) std::this_thread::yield();
}

// A sanitizer makes a thread of its own together with the first one of the program.
std::ptrdiff_t threads_at_rest() {
  static const std::ptrdiff_t at_rest = [] {
    std::atomic<int> id = 0;
    std::thread([&id] { id = ::gettid(); }).join();
    while (std::filesystem::exists("/proc/self/task/" + std::to_string(id))) std::this_thread::yield();
    return threads_of_this_process();
  }();
  return at_rest;
}

// Lives in a call's captures or is its result: how many there are.
class token {
 public:
  explicit token(std::atomic<int>& alive) : alive_(&alive) { ++alive; }
  token(token&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  token& operator=(token&&) = delete;
  ~token() {
    if (alive_ != nullptr) --*alive_;
  }

 private:
  std::atomic<int>* alive_;
};

struct Blocking : testing::Test {
  std::int64_t before = memory_pool::live();
  std::ptrdiff_t threads_before = threads_at_rest();
  real_host host;
  std::unique_ptr<looptask::loop> owned = std::make_unique<looptask::loop>(host);
  looptask::loop& loop = *owned;
  worker_port& workers = host.workers();

  void TearDown() override {
    owned.reset();
    EXPECT_EQ(memory_pool::live(), before) << "frames left over";
  }

  template <class Condition>
  void run_until(Condition met) {
    const loop_hold hold = loop.hold();
    while (!met()) {
      loop.call_soon([] {});
      loop.run_once();
    }
  }
};

TEST_F(Blocking, AHostWithALoopHasNoThreadOfItsOwn) {
  loop.run([]() -> task<> { co_await sleep_for(milliseconds(1)); }());
  EXPECT_EQ(threads_of_this_process(), threads_before);
  EXPECT_EQ(workers.statistics().threads, 0U);
}

TEST_F(Blocking, RunsOnAnotherThreadAndDeliversTheResult) {
  auto body = []() -> task<std::thread::id> {
    auto work = [] { return std::this_thread::get_id(); };
    co_return co_await run_blocking(work);
  };
  EXPECT_NE(loop.run(body()), std::this_thread::get_id());
  EXPECT_EQ(workers.statistics().threads, 1U);
  wait_until_threads_are(threads_before + 1);
}

TEST_F(Blocking, DeliversWhatIsMoveOnly) {
  auto body = []() -> task<int> {
    auto work = [given = std::make_unique<int>(41)] { return std::make_unique<int>(*given + 1); };
    const std::unique_ptr<int> got = co_await run_blocking(std::move(work));
    co_return *got;
  };
  EXPECT_EQ(loop.run(body()), 42);
}

TEST_F(Blocking, DeliversAnException) {
  auto body = []() -> task<> {
    auto work = [] { throw std::runtime_error("from the worker"); };
    co_await run_blocking(work);
  };
  try {
    loop.run(body());
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "from the worker");
  }
}

TEST_F(Blocking, KeepsTheLoopRunning) {
  bool done = false;
  spawn(loop, [&done]() -> task<> {
    auto work = [] {};
    co_await run_blocking(work);
    done = true;
  });
  loop.run();  // not run(task): only the call holds it
  EXPECT_TRUE(done);
}

// The call ends only when the loop has gone on for 1000 steps meanwhile.
TEST_F(Blocking, ACallThatComputesDoesNotHoldUpTheLoop) {
  std::atomic<int> steps = 0;
  bool done = false;
  spawn(loop, [&]() -> task<> {
    auto work = [&steps] {
      while (steps < 1000) {
      }
    };
    co_await run_blocking(work);
    done = true;
  });
  spawn(loop, [&]() -> task<> {
    while (!done) {
      co_await yield();
      ++steps;
    }
  });
  loop.run();
  EXPECT_GE(steps, 1000);
}

struct Pool : Blocking {
  gate door;
  std::atomic<int> ended = 0;
  void call(unique_function<void()> what, on_cancel how = on_cancel::wait) {
    spawn(loop, [this, how, what = std::move(what)]() mutable -> task<> {
      auto work = [&what] { what(); };
      co_await run_blocking(work, how);
      ++ended;
    });
  }
};

TEST_F(Pool, GrowsWithTheCallsThatWaitUpToItsLimit) {
  workers.limit({.threads = 3, .idle = hours(1)});
  for (int i = 0; i < 5; ++i) call([this] { door.pass(); });
  loop.run_once();
  door.wait_until_came(3);
  const worker_statistics now = workers.statistics();
  EXPECT_EQ(now.threads, 3U);
  EXPECT_EQ(now.running, 3U);
  EXPECT_EQ(now.queued, 2U);
  EXPECT_EQ(now.idle, 0U);
  wait_until_threads_are(threads_before + 3);
  door.open();
  loop.run();
  EXPECT_EQ(ended, 5);
  EXPECT_EQ(workers.statistics().threads, 3U);
}

TEST_F(Pool, GrowsAtOnceWhenTheLimitIsRaised) {
  workers.limit({.threads = 1, .idle = hours(1)});
  for (int i = 0; i < 4; ++i) call([this] { door.pass(); });
  loop.run_once();
  door.wait_until_came(1);
  workers.limit({.threads = 4, .idle = hours(1)});
  door.wait_until_came(4);
  door.open();
  loop.run();
  EXPECT_EQ(ended, 4);
}

TEST_F(Pool, ShrinksToALowerLimit) {
  for (int i = 0; i < 4; ++i) call([this] { door.pass(); });
  loop.run_once();
  door.wait_until_came(4);
  workers.limit({.threads = 1, .idle = hours(1)});
  door.open();
  loop.run();
  run_until([this] { return workers.statistics().threads == 1 && workers.statistics().idle == 1; });
  call([] {});
  loop.run();
  EXPECT_EQ(ended, 5);
}

TEST_F(Pool, IsEmptyAgainAfterItsIdleTimeAndStartsAnew) {
  workers.limit({.threads = 4, .idle = milliseconds(1)});
  for (int round = 0; round < 3; ++round) {
    gate here;
    for (int i = 0; i < 4; ++i) call([&here] { here.pass(); });
    loop.run_once();
    here.wait_until_came(4);
    here.open();
    loop.run();
    run_until([this] { return workers.statistics().threads == 0; });
  }
  EXPECT_EQ(ended, 12);
  wait_until_threads_are(threads_before);
}

TEST_F(Pool, OneCallAfterAnotherUsesOneThread) {
  std::vector<std::thread::id> used;
  for (int i = 0; i < 50; ++i) {
    call([&used] { used.push_back(std::this_thread::get_id()); });
    loop.run();
    run_until([this] { return workers.statistics().idle == 1; });
  }
  EXPECT_EQ(used, std::vector<std::thread::id>(50, used.front()));
}

TEST_F(Pool, CallsBeginInTheOrderOfAsking) {
  workers.limit({.threads = 1});
  std::vector<int> order;
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    expected.push_back(i);
    call([&order, i] { order.push_back(i); });
  }
  loop.run();
  EXPECT_EQ(order, expected);
}

// ---- cancellation ----------------------------------------------------------------------------------------------------------

struct Cancelled : Blocking {
  gate door;
  cancel_scope scope{loop};
  std::atomic<int> ran = 0;
  std::atomic<int> alive = 0;
  bool delivered = false;
  bool went_on = false;  // beyond the next await
  outcome<> how;

  // One call that waits at the door, and an await after it.
  void begin(on_cancel mode) {
    spawn(
        loop, scope,
        [](Cancelled& t, on_cancel m) -> task<> {
          auto work = [&door = t.door, &ran = t.ran, &alive = t.alive, held = token(t.alive)] {
            ++ran;
            door.pass();
            return token(alive);
          };
          const token result = co_await run_blocking(std::move(work), m, "the call");
          t.delivered = true;
          co_await yield();
          t.went_on = true;
        }(*this, mode),
        [this](outcome<> o) { how = std::move(o); });
  }
  void run_until_it_waits() {
    loop.run_once();
    door.wait_until_came(1);
  }
  void expect_cancelled() { EXPECT_THROW(std::move(how).get(), cancelled); }
};

constexpr std::initializer_list<on_cancel> both_modes{on_cancel::wait, on_cancel::abandon};

TEST_F(Cancelled, BeforeTheAwaitNothingIsCalled) {
  for (const on_cancel mode : both_modes) {
    scope.cancel();
    begin(mode);
    loop.run();
    expect_cancelled();
  }
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(workers.statistics().threads, 0U);
}

TEST_F(Cancelled, WhatIsQueuedIsTakenOut) {
  workers.limit({.threads = 1});
  gate other;
  spawn(loop, [&other]() -> task<> {
    auto work = [&other] { other.pass(); };
    co_await run_blocking(work);
  });
  loop.run_once();
  other.wait_until_came(1);
  for (const on_cancel mode : both_modes) {
    cancel_scope inner(loop);
    bool over = false;
    spawn(
        loop, inner,
        [](Cancelled& t, on_cancel m) -> task<> {
          auto work = [&ran = t.ran, held = token(t.alive)] { ++ran; };
          co_await run_blocking(std::move(work), m);
        }(*this, mode),
        [&](outcome<> o) { over = o.error() != nullptr; });
    run_until([this] { return workers.statistics().queued == 1; });
    inner.cancel();
    run_until([&over] { return over; });
    EXPECT_EQ(workers.statistics().queued, 0U);
    EXPECT_EQ(alive, 0);
  }
  other.open();
  loop.run();
  EXPECT_EQ(ran, 0);
}

TEST_F(Cancelled, WhileItRunsWaitsForItsResultAndStrikesAtTheNextAwait) {
  begin(on_cancel::wait);
  run_until_it_waits();
  scope.cancel();
  loop.call_soon([] {});
  loop.run_once();
  EXPECT_FALSE(delivered);
  EXPECT_TRUE(workers.statistics().abandoned.empty());
  door.open();
  loop.run();
  EXPECT_TRUE(delivered);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(alive, 0);
  expect_cancelled();
}

TEST_F(Cancelled, WhileItRunsIsAbandonedAndListedUntilItEnds) {
  begin(on_cancel::abandon);
  const monotonic_time from = host.clock().monotonic();
  run_until_it_waits();
  scope.cancel();
  loop.run();
  expect_cancelled();
  EXPECT_FALSE(delivered);
  const worker_statistics now = workers.statistics();
  ASSERT_EQ(now.abandoned.size(), 1U);
  EXPECT_EQ(now.running, 1U);
  EXPECT_EQ(now.abandoned[0].name, "the call");
  EXPECT_GE(now.abandoned[0].since, from);
  EXPECT_LE(now.abandoned[0].since, host.clock().monotonic());
  EXPECT_EQ(alive, 1) << "its captures live as long as it runs";
  door.open();
  run_until([this] { return workers.statistics().running == 0; });
  EXPECT_TRUE(workers.statistics().abandoned.empty());
  run_until([this] { return alive == 0; });
}

TEST_F(Cancelled, AnAbandonedCallKeepsItsThread) {
  workers.limit({.threads = 1});
  begin(on_cancel::abandon);
  run_until_it_waits();
  scope.cancel();
  loop.run();
  bool done = false;
  spawn(loop, [&done]() -> task<> {
    auto work = [] {};
    co_await run_blocking(work);
    done = true;
  });
  loop.run_once();
  EXPECT_EQ(workers.statistics().queued, 1U);
  EXPECT_FALSE(done);
  door.open();
  loop.run();
  EXPECT_TRUE(done);
}

// It has ended, but the loop has not looked yet.
TEST_F(Cancelled, AfterItHasEndedTheResultIsDelivered) {
  for (const on_cancel mode : both_modes) {
    gate here;
    cancel_scope inner(loop);
    bool got = false;
    bool further = false;
    spawn(
        loop, inner,
        [](gate& at, on_cancel m, bool& one, bool& two) -> task<> {
          auto work = [&at] { at.pass(); };
          co_await run_blocking(work, m);
          one = true;
          co_await yield();
          two = true;
        }(here, mode, got, further),
        [](outcome<>) {});
    loop.run_once();
    loop.call_soon([&] {
      here.wait_until_came(1);
      here.open();
      while (workers.statistics().running != 0) std::this_thread::yield();
      inner.cancel();
    });
    loop.run();
    EXPECT_TRUE(got);
    EXPECT_FALSE(further);
  }
}

// ---- the end of the loop ---------------------------------------------------------------------------------------------------

TEST_F(Cancelled, ALoopThatIsDestroyedWaitsForWhatRunsAndDropsWhatIsQueued) {
  workers.limit({.threads = 1});
  std::atomic<int> after = 0;
  for (int i = 0; i < 3; ++i) {
    spawn(loop, [this, &after]() -> task<> {
      struct in_the_frame {
        std::atomic<bool> begun = false;
        std::atomic<bool> ended = false;
        ~in_the_frame() { EXPECT_EQ(begun, ended) << "the frame goes before the call that uses it"; }
      } mine;
      auto work = [&] {
        ++ran;
        mine.begun = true;
        door.pass();
        mine.ended = true;
        ++after;
      };
      co_await run_blocking(work);
      ADD_FAILURE() << "goes on after the end of its loop";
    });
  }
  run_until_it_waits();
  std::atomic<bool> ending = false;
  std::thread opener([&] {
    ending.wait(false);
    door.open();
  });
  ending = true;
  ending.notify_one();
  owned.reset();
  EXPECT_EQ(after, 1);
  EXPECT_EQ(ran, 1);
  opener.join();
  wait_until_threads_are(threads_before);
}

// Both what was abandoned by a cancellation and what the end of the loop abandons. Were it waited for, this would hang.
TEST_F(Cancelled, ALoopThatIsDestroyedDoesNotWaitForWhatIsAbandoned) {
  const auto here = std::make_shared<gate>();
  const auto gone = std::make_shared<std::atomic<int>>(0);  // results that were destroyed
  const auto body = [](std::shared_ptr<gate> at, std::shared_ptr<std::atomic<int>> count) -> task<> {
    auto work = [at, count] {
      at->pass();
      return std::shared_ptr<void>(nullptr, [count](void*) {
        ++*count;
        count->notify_all();
      });
    };
    static_cast<void>(co_await run_blocking(std::move(work), on_cancel::abandon));
  };
  {
    cancel_scope inner(loop);
    spawn(loop, inner, body(here, gone), [](outcome<>) {});
    loop.run_once();
    here->wait_until_came(1);
    inner.cancel();
    loop.run();
  }
  spawn(loop, body(here, gone));
  loop.run_once();
  here->wait_until_came(2);
  owned.reset();
  EXPECT_EQ(*gone, 0);
  here->open();
  for (int seen = *gone; seen < 2; seen = *gone) gone->wait(seen);
  EXPECT_EQ(*gone, 2);
}

TEST_F(Cancelled, AHostServesTheNextLoopAfterwards) {
  workers.limit({.threads = 2});
  owned.reset();
  looptask::loop next(host);
  auto body = []() -> task<int> {
    auto work = [] { return 7; };
    co_return co_await run_blocking(work);
  };
  EXPECT_EQ(next.run(body()), 7);
}

// ---- many ------------------------------------------------------------------------------------------------------------------

TEST(Pools, FourLoopsAtOnceWithCallsCancelledInAnyState) {
  const int each = 300;
  std::vector<std::thread> threads;
  std::atomic<int> alive = 0;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([t, each, &alive] {
      real_host host;
      host.workers().limit({.threads = 2 + t, .idle = milliseconds(t)});
      std::uint64_t seed = t + 1;
      const auto chance = [&seed](std::uint64_t of) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        return (seed >> 33U) % of;
      };
      int ended = 0;
      std::vector<std::unique_ptr<cancel_scope>> scopes;
      {
        looptask::loop loop(host);
        for (int i = 0; i < each; ++i) {
          cancel_scope& scope = *scopes.emplace_back(std::make_unique<cancel_scope>(loop));
          const on_cancel mode = chance(2) == 0 ? on_cancel::wait : on_cancel::abandon;
          spawn(
              loop, scope,
              [](std::atomic<int>& of, on_cancel how, std::uint64_t turns) -> task<> {
                auto work = [&of, held = token(of), turns] {
                  for (std::uint64_t n = 0; n < turns; ++n) std::this_thread::yield();
                  return std::make_unique<token>(of);
                };
                const auto result = co_await run_blocking(std::move(work), how);
                EXPECT_NE(result, nullptr);
              }(alive, mode, chance(50)),
              [&ended](outcome<>) { ++ended; });
          if (chance(3) == 0) scope.cancel();
          if (chance(4) == 0) loop.call_later(std::chrono::microseconds(chance(300)), [&scope] { scope.cancel(); });
        }
        loop.run();
        EXPECT_EQ(ended, each);
        while (host.workers().statistics().running != 0) std::this_thread::yield();  // the abandoned use `alive`
      }
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace looptask
