// What a service does all the time takes nothing from the heap once it has done it for a while.
#include <gtest/gtest.h>

#include <algorithm>
#include <semaphore>
#include <thread>

#include <looptask/looptask.hpp>

#include "allocations.hpp"

namespace looptask {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

struct SteadyState : testing::Test {
  real_host host;
  looptask::loop loop{host};
  steady_state counter;
};

TEST(Allocations, AreCounted) {
  const std::uint64_t before = allocations();
  // Called by name: a new expression whose result nobody needs may be left out by the compiler.
  ::operator delete(::operator new(8));
  ::operator delete[](::operator new[](8));
  ::operator delete(::operator new(64, std::align_val_t(64)), std::align_val_t(64));
  ::operator delete(::operator new(8, std::nothrow), std::nothrow);
  EXPECT_EQ(allocations() - before, 4U);
}

TEST_F(SteadyState, ATimerThatRearmsItself) {
  struct ticker {
    explicit ticker(looptask::loop& l, steady_state& s) : state(s), next(l, *this) {}
    void tick() {
      state.round();
      if (!state.over()) next.arm_after(microseconds(1));
    }
    steady_state& state;
    timer_of<&ticker::tick> next;
  } ticks(loop, counter);
  ticks.next.arm_after(microseconds(1));
  loop.run();
  EXPECT_EQ(counter.allocated(), 0U);
}

TEST_F(SteadyState, ManyTimersThatAreArmedAnewBeforeTheyAreDue) {
  struct deadline {
    explicit deadline(looptask::loop& l) : when(l, *this) {}
    void passed() { FAIL(); }
    timer_of<&deadline::passed> when;
  };
  std::vector<std::unique_ptr<deadline>> all;
  for (int i = 0; i < 100; ++i) all.push_back(std::make_unique<deadline>(loop));
  auto body = [](std::vector<std::unique_ptr<deadline>>& of, steady_state& state) -> task<> {
    for (std::int64_t n = 0; !state.over(); ++n) {
      state.round();
      for (std::size_t i = 0; i < of.size(); ++i) {
        of[i]->when.arm_after(hours(1) + nanoseconds((n * 7919 + static_cast<std::int64_t>(i) * 104'729) % 1'000'000'007));
      }
      co_await yield();
    }
  };
  loop.run(body(all, counter));
  EXPECT_EQ(counter.allocated(), 0U);
}

TEST_F(SteadyState, ATaskThatSleeps) {
  auto body = [](steady_state& state) -> task<> {
    while (!state.over()) {
      state.round();
      co_await sleep_for(microseconds(1));
    }
  };
  loop.run(body(counter));
  EXPECT_EQ(counter.allocated(), 0U);
}

TEST_F(SteadyState, CallbacksOfTheLoop) {
  if (!memory_pool::keeps) GTEST_SKIP() << "under the address sanitizer each block of the pool comes from the heap";
  struct again {
    SteadyState* test;
    void operator()() const {
      test->counter.round();
      if (test->counter.over()) return;
      test->loop.call_soon([] {});
      test->loop.call_later(microseconds(1), again{test});
    }
  };
  loop.call_soon(again{this});
  loop.run();
  EXPECT_EQ(counter.allocated(), 0U);
}

TEST_F(SteadyState, WorkPostedFromTheLoopsOwnThread) {
  struct again {
    SteadyState* test;
    void operator()() const {
      test->counter.round();
      if (!test->counter.over()) test->loop.post(again{test});
    }
  };
  const loop_hold until_over = loop.hold();
  loop.post(again{this});
  while (!counter.over()) loop.run_once();
  EXPECT_EQ(counter.allocated(), 0U);
}

// Whatever is kept for the next post may be on its way back at the moment it is asked for, which costs one more, once: then
// there is one more to keep. So it may take more than one try until the rounds are steady.
TEST_F(SteadyState, WorkPostedFromAnotherThread) {
  const auto allocated = [this] {
    steady_state state;
    std::counting_semaphore<> ran(0);
    std::thread poster([&, handle = loop.handle()] {
      for (int at_once = 64; !state.over(); at_once = 8) {  // at first more than in later rounds
        for (int i = 1; i < at_once; ++i) handle.post([&ran] { ran.release(); });
        handle.post([&] {
          state.round();
          ran.release();
        });
        for (int i = 0; i < at_once; ++i) ran.acquire();
      }
      handle.stop();
    });
    const loop_hold until_over = loop.hold();
    loop.run();
    poster.join();
    return state.allocated();
  };
  std::uint64_t least = allocated();
  for (int i = 0; i < 4 && least != 0; ++i) least = std::min(least, allocated());
  EXPECT_EQ(least, 0U);
}

// Starts `body(counter)` three times at once.
template <class F>
std::uint64_t allocated_by_three(looptask::loop& loop, steady_state& counter, F& body) {
  auto all = [&counter, &body](task_group& group) -> task<> {
    for (int i = 0; i < 3; ++i) group.start(body(counter));
    co_return;
  };
  std::uint64_t allocated = ~std::uint64_t{0};
  auto main = [&]() -> task<> {
    co_await with_task_group(all);
    allocated = counter.allocated();
  };
  loop.run(main());
  return allocated;
}

TEST_F(SteadyState, PermitsOfASemaphore) {
  semaphore two(2);
  auto body = [&two](steady_state& state) -> task<> {
    while (!state.over()) {
      state.round();
      const auto permit = co_await two.acquire();
      co_await yield();
    }
  };
  EXPECT_EQ(allocated_by_three(loop, counter, body), 0U);
  EXPECT_GT(two.statistics().waited, 1000U);
}

TEST_F(SteadyState, AMutexThatIsHandedOn) {
  mutex m;
  auto body = [&m](steady_state& state) -> task<> {
    while (!state.over()) {
      state.round();
      const auto held = co_await m.lock();
      co_await yield();
    }
  };
  EXPECT_EQ(allocated_by_three(loop, counter, body), 0U);
  EXPECT_GT(m.statistics().waited, 1000U);
}

TEST_F(SteadyState, AConditionThatIsNotified) {
  mutex m;
  condition turn;
  auto body = [&](steady_state& state) -> task<> {
    auto held = co_await m.lock();
    while (!state.over()) {
      state.round();
      turn.notify_one();
      co_await turn.wait(held);
    }
    turn.notify_all();
  };
  // Two of them wait when the third has not begun; each one that comes wakes one that waits.
  auto starter = [&](steady_state& state) -> task<> {
    while (!state.over()) {
      co_await yield();
      turn.notify_one();
    }
  };
  auto all = [&](task_group& group) -> task<> {
    for (int i = 0; i < 3; ++i) group.start(body(counter));
    group.start(starter(counter));
    co_return;
  };
  std::uint64_t allocated = 1;
  auto main = [&]() -> task<> {
    co_await with_task_group(all);
    allocated = counter.allocated();
  };
  loop.run(main());
  EXPECT_EQ(allocated, 0U);
  EXPECT_GT(turn.statistics().notified, 1000U);
}

TEST_F(SteadyState, ValuesThatPassThroughChannels) {
  for (const std::size_t capacity : {0U, 1U, 64U}) {
    steady_state rounds;
    channel<std::uint64_t> there(capacity), back(capacity);
    auto echoes = [](channel<std::uint64_t>& in, channel<std::uint64_t>& out) -> task<> {
      while (true) {
        const auto value = co_await in.receive();
        if (!value) break;
        co_await out.send(*value + 1);
      }
    };
    auto asks = [](steady_state& state, channel<std::uint64_t>& out, channel<std::uint64_t>& in) -> task<std::uint64_t> {
      std::uint64_t last = 0;
      while (!state.over()) {
        state.round();
        co_await out.send(last);
        last = *co_await in.receive();
      }
      co_return last;
    };
    spawn(loop, echoes(there, back));
    EXPECT_EQ(loop.run(asks(rounds, there, back)), static_cast<std::uint64_t>(steady_state::rounds));
    EXPECT_EQ(rounds.allocated(), 0U);
    there.close();
    loop.run();
  }
}

TEST_F(SteadyState, AFullChannel) {
  channel<int> narrow(8);
  auto fills = [](steady_state& state, channel<int>& to) -> task<> {
    while (!state.over()) {
      state.round();
      co_await to.send(1);
    }
  };
  std::uint64_t allocated = 1;
  auto drains = [](steady_state& state, channel<int>& from, std::uint64_t& result) -> task<> {
    while (!state.over()) {
      co_await from.receive();
      co_await yield();
    }
    result = state.allocated();
  };
  spawn(loop, fills(counter, narrow));
  loop.run(drains(counter, narrow, allocated));
  EXPECT_EQ(allocated, 0U);
  EXPECT_GT(narrow.statistics().senders.waited, 1000U);
  while (narrow.try_receive()) {
  }
  loop.run();
}

TEST_F(SteadyState, ARateLimiter) {
  rate_limiter fast(loop, 1, microseconds(1), 1);
  auto body = [&fast](steady_state& state) -> task<> {
    while (!state.over()) {
      state.round();
      co_await fast.acquire();
    }
  };
  EXPECT_EQ(allocated_by_three(loop, counter, body), 0U);
  EXPECT_GT(fast.statistics().waited, 1000U);
}

TEST_F(SteadyState, AnEventThatIsSetAndCleared) {
  event beat;
  auto waits = [](event& on, const bool& over) -> task<> {
    while (!over) co_await on.wait();
  };
  bool over = false;
  for (int i = 0; i < 3; ++i) spawn(loop, waits(beat, over));
  std::uint64_t allocated = 1;
  auto beats = [](steady_state& state, event& of, bool& end, std::uint64_t& result) -> task<> {
    while (!state.over()) {
      state.round();
      of.set();
      of.clear();
      co_await yield();
    }
    result = state.allocated();
    end = true;
    of.set();
  };
  loop.run(beats(counter, beat, over, allocated));
  loop.run();
  EXPECT_EQ(allocated, 0U);
}

}  // namespace
}  // namespace looptask
