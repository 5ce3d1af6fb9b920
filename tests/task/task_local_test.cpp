#include <looptask/task_local.hpp>

#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

const task_local<std::string> who("nobody");
const task_local<int> depth;
const task_local<std::shared_ptr<int>> kept;

struct TaskLocal : in_a_world {
  task<> says(std::string where) {
    note(where + ": " + who.get());
    co_await yield();
    note(where + " again: " + who.get());
  }
};

TEST_F(TaskLocal, IsBoundAsLongAsTheTaskRuns) {
  auto body = [this]() -> task<> {
    note(who.get());
    co_await who.run("alice", says("inside"));
    note(who.get());
    EXPECT_EQ(who.find(), nullptr);
  };
  loop.run(body());
  EXPECT_EQ(order, (words{"nobody", "inside: alice", "inside again: alice", "nobody"}));
}

TEST_F(TaskLocal, TheInnermostValueCountsAndKeysAreTheirOwn) {
  auto innermost = [this]() -> task<> {
    note(who.get() + std::to_string(depth.get()));
    co_return;
  };
  auto inner = [&]() -> task<> {
    co_await depth.run(2, innermost());
    co_await who.run("bob", innermost());
    note(who.get() + std::to_string(depth.get()));
  };
  auto outer = [&]() -> task<> { co_await depth.run(1, inner()); };
  loop.run([&]() -> task<> { co_await who.run("alice", outer()); }());
  EXPECT_EQ(order, (words{"alice2", "bob1", "alice1"}));
}

TEST_F(TaskLocal, TheResultAndTheExceptionComeThrough) {
  auto answer = []() -> task<int> { co_return depth.get() + 1; };
  auto fails = []() -> task<> {
    co_await yield();
    throw std::runtime_error("boom");
  };
  auto body = [&]() -> task<> {
    const int n = co_await depth.run(41, answer());
    EXPECT_EQ(n, 42);
    bool threw = false;
    try {
      co_await who.run("alice", fails());
    } catch (const std::runtime_error&) {
      threw = true;
    }
    EXPECT_TRUE(threw);
    EXPECT_EQ(who.get(), "nobody");
  };
  loop.run(body());
}

TEST_F(TaskLocal, ChildrenOfGroupsInheritWhatIsBoundWhenTheyAreStarted) {
  loop.run(with_task_group([this](task_group& g) -> task<> {
    auto starts = [this](task_group& in) -> task<> {
      in.start(says("child"));
      spawn(loop, says("spawned"));
      co_return;
    };
    g.start(says("before"));
    co_await who.run("alice", starts(g));  // which ends before they begin
    g.start(says("after"));
  }));
  loop.run();
  EXPECT_EQ(order, (words{"before: nobody", "child: alice", "spawned: alice", "after: nobody", "before again: nobody",
                          "child again: alice", "spawned again: alice", "after again: nobody"}));
}

TEST_F(TaskLocal, AQueuedChildHasTheValuesOfItsStart) {
  loop.run(with_task_group(1, [this](task_group& g) -> task<> {
    auto starts = [this](task_group& in, std::string name) -> task<> {
      in.start(says(name));
      const bool begun = co_await in.start_when_free(says(name + " waited"));
      LT_REQUIRE(begun);
    };
    co_await who.run("alice", starts(g, "one"));
    co_await who.run("bob", starts(g, "two"));
  }));
  EXPECT_EQ(order, (words{"one: alice", "one again: alice", "one waited: alice", "one waited again: alice", "two: bob",
                          "two again: bob", "two waited: bob", "two waited again: bob"}));
}

TEST_F(TaskLocal, WhatAChildBindsIsItsOwn) {
  loop.run(with_task_group([this](task_group& g) -> task<> {
    auto binds = [this]() -> task<> { co_await who.run("child", says("child")); };
    g.start(binds());
    co_await yield();
    note("parent: " + who.get());
  }));
  EXPECT_EQ(order[1], "parent: nobody");
}

TEST_F(TaskLocal, CallbacksHaveNone) {
  auto body = [this]() -> task<> {
    loop.call_soon([this] { note("callback: " + who.get()); });
    co_await yield();
    co_await yield();
  };
  loop.run([&]() -> task<> { co_await who.run("alice", body()); }());
  EXPECT_EQ(order, (words{"callback: nobody"}));
  EXPECT_EQ(who.get(), "nobody");
}

TEST_F(TaskLocal, TheValueEndsWithTheLastTaskThatHasIt) {
  auto value = std::make_shared<int>(7);
  auto sleeps = [](duration d) -> task<> { co_await sleep_for(d); };
  loop.run(with_task_group([&](task_group& g) -> task<> {
    auto starts = [&sleeps](task_group& in) -> task<> {
      in.start(sleeps(seconds(1)));
      in.start(sleeps(seconds(2)));
      co_return;
    };
    co_await kept.run(value, starts(g));
    EXPECT_EQ(value.use_count(), 2);
    co_await sleep_for(milliseconds(1500));
    EXPECT_EQ(value.use_count(), 2);
    co_await sleep_for(seconds(1));
    EXPECT_EQ(value.use_count(), 1);
  }));
}

TEST_F(TaskLocal, NothingIsLeftWhenTheLoopEndsInTheMiddleOrNobodyAwaits) {
  auto value = std::make_shared<int>(7);
  auto sleeps = []() -> task<> { co_await sleep_for(hours(1)); };
  auto body = [&]() -> task<> {
    { const auto never = kept.run(value, sleeps()); }
    EXPECT_EQ(value.use_count(), 1);
    co_await kept.run(value, sleeps());
  };
  spawn(loop, body());
  loop.run_once();
  EXPECT_EQ(value.use_count(), 2);
  owned.reset();
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace looptask
