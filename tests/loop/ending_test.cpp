#include <looptask/loop.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <looptask/memory_pool.hpp>
#include <looptask/scope.hpp>
#include <looptask/sleep.hpp>

#include "sim/world.hpp"

namespace looptask {
namespace {

using std::chrono::seconds;

struct Ending : testing::Test {
  sim::world world{1};
  std::optional<looptask::loop> owned{std::in_place, world};
  looptask::loop& loop = *owned;
  std::shared_ptr<int> held = std::make_shared<int>(0);
};

TEST_F(Ending, DestroysWorkOfEveryKindWithoutRunningIt) {
  const auto blocks = memory_pool::live();
  const auto fails = [held = held] { FAIL(); };
  loop.call_soon(fails);
  loop.call_idle(fails);
  loop.call_later(seconds(1), fails);
  loop.post(fails);
  EXPECT_EQ(held.use_count(), 6);
  owned.reset();
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_EQ(memory_pool::live(), blocks);
}

struct hands_over_at_its_end {
  looptask::loop* to;
  std::shared_ptr<int> held;
  hands_over_at_its_end(looptask::loop& l, std::shared_ptr<int> h) : to(&l), held(std::move(h)) {}
  hands_over_at_its_end(hands_over_at_its_end&& other) noexcept : to(std::exchange(other.to, nullptr)), held(other.held) {}
  ~hands_over_at_its_end() {
    if (to == nullptr) return;
    const auto again = [h = held] { FAIL(); };
    to->call_soon(again);
    to->call_idle(again);
    to->call_later(seconds(1), again);
    to->post(again);
  }
  void operator()() const {}
};

TEST_F(Ending, WorkHandedOverWhileItIsBeingDestroyedIsDestroyedToo) {
  loop.call_soon(hands_over_at_its_end(loop, held));
  loop.call_later(seconds(1), hands_over_at_its_end(loop, held));
  loop.post(hands_over_at_its_end(loop, held));
  owned.reset();
  EXPECT_EQ(held.use_count(), 1);
}

struct starts_a_task_at_its_end {
  looptask::loop* on;
  cancel_scope* scope;
  std::shared_ptr<int> held;
  starts_a_task_at_its_end(looptask::loop& l, cancel_scope* s, std::shared_ptr<int> h) : on(&l), scope(s), held(std::move(h)) {}
  starts_a_task_at_its_end(starts_a_task_at_its_end&& other) noexcept
      : on(std::exchange(other.on, nullptr)), scope(other.scope), held(other.held) {}
  ~starts_a_task_at_its_end() {
    if (on == nullptr) return;
    const auto never = [](std::shared_ptr<int>) -> task<> {
      ADD_FAILURE() << "nothing runs any more";
      co_return;
    };
    if (scope != nullptr)
      spawn(*on, *scope, never(held), [](outcome<>) {});
    else
      spawn(*on, never(held));
  }
  void operator()() const {}
};

TEST_F(Ending, ATaskStartedWhileTheLoopIsBeingDestroyedIsDestroyedToo) {
  const auto blocks = memory_pool::live();
  cancel_scope scope(loop);
  const auto sleeps = [](starts_a_task_at_its_end) -> task<> { co_await sleep_for(seconds(1)); };
  for (cancel_scope* const in : {static_cast<cancel_scope*>(nullptr), &scope}) {
    spawn(loop, sleeps(starts_a_task_at_its_end(loop, in, held)));
    spawn(loop, scope, sleeps(starts_a_task_at_its_end(loop, in, held)), [](outcome<>) {});
  }
  loop.run_once();
  for (cancel_scope* const in : {static_cast<cancel_scope*>(nullptr), &scope}) {
    loop.call_soon(starts_a_task_at_its_end(loop, in, held));
    loop.call_later(seconds(1), starts_a_task_at_its_end(loop, in, held));
    loop.post(starts_a_task_at_its_end(loop, in, held));
  }
  owned.reset();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(memory_pool::live(), blocks);
}

TEST_F(Ending, AHandleKnowsThatItsLoopIsGone) {
  const loop_handle handle = loop.handle();
  EXPECT_TRUE(handle.post([held = held] {}));
  EXPECT_EQ(held.use_count(), 2);
  owned.reset();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(handle.post([held = held] { FAIL(); }));
  EXPECT_FALSE(handle.stop());
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(loop_handle().post([] {}));
}

TEST_F(Ending, PostedWorkThatOutlivesARunIsDoneInTheNext) {
  bool ran = false;
  loop.call_soon([&] {
    loop.stop();
    loop.post([&] { ran = true; });
  });
  loop.run();
  EXPECT_FALSE(ran);
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(LoopDeathTest, DestroyedFromInsideACallbackIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        std::optional<loop> l(std::in_place, world);
        l->call_soon([&] { l.reset(); });
        l->run();
      },
      "inside one of its callbacks");
}

TEST(LoopDeathTest, DestroyedBeforeItsHoldsIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        std::optional<loop> l(std::in_place, world);
        const loop_hold hold = l->hold();
        l.reset();
      },
      "before the holds");
}

struct LoopThreadDeathTest : testing::Test {
  struct alarm final : timer {
    explicit alarm(loop& l) noexcept : timer(l) {}
    ~alarm() = default;
    void on_timer() override {}
  };
  struct nothing final : runnable {
    ~nothing() = default;
    void run() override {}
    void discard() noexcept override {}
  };
  struct unheard final : readiness_handler {
    ~unheard() = default;
    void on_ready(readiness) override {}
  };
  static void on_another_thread(unique_function<void(loop&)> what) {
    sim::world world(1);
    loop l(world);
    std::thread([&] { what(l); }).join();
  }
};

TEST_F(LoopThreadDeathTest, AnotherThreadMayOnlyPostAndStop) {
  const auto refused = "from a thread other than its owner";
  EXPECT_DEATH(on_another_thread([](loop& l) { l.call_soon([] {}); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { l.call_later(seconds(1), [] {}); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { l.call_idle([] {}); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { static_cast<void>(l.now()); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { static_cast<void>(l.hold()); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { l.run(); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { l.run_once(); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { l.on_error(nullptr); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { static_cast<void>(l.statistics()); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) {
                 nothing work;
                 l.call_soon(work);
               }),
               refused);
  EXPECT_DEATH(on_another_thread([](loop& l) {
                 unheard handler;
                 l.watch(0, readiness::read, handler);
               }),
               refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { l.rewatch(0, readiness::read); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { l.unwatch(0); }), refused);
  EXPECT_DEATH(on_another_thread([](loop& l) { cancel_scope(l).cancel(); }), refused);
  on_another_thread([](loop& l) {
    l.post([] {});
    l.stop();
  });
}

TEST_F(LoopThreadDeathTest, ATimerIsArmedOnItsThreadOnly) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        alarm late(l);  // goes on this thread: its end would assert as well on the other one
        std::thread([&] { late.arm(monotonic_time(seconds(1))); }).join();
      },
      "from a thread other than its owner");
}

TEST_F(LoopThreadDeathTest, ATimerIsCancelledOnItsThreadOnly) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        timer_handle handle = l.call_later(seconds(1), [] {});
        std::thread([&] { handle.cancel(); }).join();
      },
      "from a thread other than its owner");
}

TEST_F(LoopThreadDeathTest, ALoopIsDestroyedOnItsThreadOnly) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        std::optional<loop> l(std::in_place, world);
        std::thread([&] { l.reset(); }).join();
      },
      "from a thread other than its owner");
}

}  // namespace
}  // namespace looptask
