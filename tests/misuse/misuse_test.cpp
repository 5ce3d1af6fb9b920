// What must not be done, and what is said of it. In debug mode with the task that did it.
#include "task/world.hpp"

namespace looptask {
namespace {

struct Misuse : in_a_world {
  static task<> rests() { co_await sleep_for(hours(1)); }
  static task<int> answer() { co_return 42; }
};

TEST_F(Misuse, ATaskAwaitedTwice) {
  auto body = []() -> task<> {
    task<int> once = answer();
    static_cast<void>(co_await std::move(once));
    static_cast<void>(co_await std::move(once));
  };
  EXPECT_DEATH(loop.run(body()), "task awaited or started twice, or empty");
}

TEST_F(Misuse, AnEmptyTaskAwaited) {
  auto body = []() -> task<> {
    task<> empty;
    co_await std::move(empty);
  };
  EXPECT_DEATH(loop.run(body()), "task awaited or started twice, or empty");
}

TEST_F(Misuse, AMovedFromTaskSpawned) {
  task<> first = rests();
  const task<> second = std::move(first);
  EXPECT_DEATH(spawn(loop, std::move(first)), "task awaited or started twice, or empty");
}

TEST_F(Misuse, AnEmptyTaskStartedInAGroup) {
  EXPECT_DEATH(loop.run(with_task_group([](task_group& g) -> task<> {
    g.start(task<>());
    co_return;
  })),
               "task awaited or started twice, or empty");
  EXPECT_DEATH(
      loop.run(with_task_group([](task_group& g) -> task<> { static_cast<void>(co_await g.start_when_free(task<>())); })),
      "an empty task was to be started");
}

TEST_F(Misuse, ABodyOfAGroupThatIsNoTask) {
  EXPECT_DEATH(loop.run(with_task_group([](task_group&) { return task<>(); })), "body of a task group returned an empty task");
}

TEST_F(Misuse, AScopeDestroyedInUse) {
  EXPECT_DEATH(
      {
        cancel_scope scope(loop);
        spawn(loop, scope, rests(), [](outcome<>) {});
        loop.run_once();
      },
      "cancel_scope destroyed while it is in use");
}

TEST_F(Misuse, AScopeThatTwoTasksRunIn) {
  cancel_scope scope(loop);
  auto body = [](cancel_scope& in) -> task<> { static_cast<void>(co_await in.run(rests())); };
  EXPECT_DEATH(
      {
        spawn(loop, body(scope));
        spawn(loop, body(scope));
        loop.run();
      },
      "cancel_scope::run in a scope that is in use");
}

TEST_F(Misuse, ASemaphoreDestroyedWithWaiters) {
  auto waits = [](semaphore& s) -> task<> { const auto permit = co_await s.acquire(); };
  EXPECT_DEATH(
      {
        semaphore doors(0);
        spawn(loop, waits(doors));
        loop.run_once();
      },
      "destroyed while tasks wait for it");
}

TEST_F(Misuse, RunInsideACallback) {
  EXPECT_DEATH(
      {
        loop.call_soon([this] { loop.run(); });
        loop.run();
      },
      "loop run from inside one of its callbacks");
}

TEST_F(Misuse, RunInsideATask) {
  auto body = [this]() -> task<> {
    loop.run(rests());
    co_return;
  };
  EXPECT_DEATH(loop.run(body()), "loop run from inside one of its callbacks");
}

TEST_F(Misuse, ALoopDestroyedInsideACallback) {
  EXPECT_DEATH(
      {
        loop.call_soon([this] { owned.reset(); });
        loop.run();
      },
      "loop destroyed from inside one of its callbacks");
}

struct foreign {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

TEST_F(Misuse, AForeignAwaitable) {
  auto body = []() -> task<> {
    foreign what;
    co_await what;
  };
  EXPECT_DEATH(loop.run(body()), "neither a task nor a looptask::operation");
}

TEST_F(Misuse, AnOperationAwaitedOutsideOfATask) {
  EXPECT_DEATH(static_cast<void>(sleep_for(seconds(1)).await_ready()), "operation awaited outside of a task");
  EXPECT_DEATH(static_cast<void>(this_loop()), "outside of a task");
}

TEST_F(Misuse, AnOperationThatTwoTasksAwait) {
  auto body = []() -> task<> {
    auto nap = sleep_for(hours(1));
    auto sleeps = [](decltype(nap)& what) -> task<> { co_await what; };
    co_await with_task_group([&](task_group& g) -> task<> {
      g.start(sleeps(nap));
      g.start(sleeps(nap));
      co_return;
    });
  };
  EXPECT_DEATH(loop.run(body()), "operation awaited while a task waits for it");
}

// Nobody but the frame of with_task_group can end a group, and it waits; so only the end of the loop meets children.
TEST_F(Misuse, AGroupThatIsDestroyedWithItsLoopTakesItsChildrenAlong) {
  auto body = [this](task_group& g) -> task<> {
    for (int i = 0; i < 3; ++i) g.start(rests());
    note(std::to_string(g.running()));
    co_await rests();
  };
  spawn(loop, with_task_group(body));
  loop.run_once();
  loop.run_once();
  EXPECT_EQ(order, (words{"3"}));
}

}  // namespace
}  // namespace looptask
