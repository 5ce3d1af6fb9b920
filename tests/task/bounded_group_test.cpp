#include <algorithm>
#include <memory>
#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

struct BoundedGroup : in_a_world {
  std::size_t running = 0;
  std::size_t most = 0;

  task<> child(duration d, std::string name) {
    note(name);
    most = std::max(most, ++running);
    try {
      co_await sleep_for(d);
    } catch (const cancelled&) {
      --running;
      note(name + " cancelled");
      throw;
    }
    --running;
  }
  static task<> keeps(std::shared_ptr<int>) { co_await sleep_for(hours(1)); }
};

TEST_F(BoundedGroup, NoMoreThanTheLimitRunAtATimeInOrderOfStarting) {
  loop.run(with_task_group(2, [this](task_group& g) -> task<> {
    for (const char* name : {"a", "b", "c", "d", "e"}) g.start(child(seconds(1), name));
    const task_group_statistics now = g.statistics();
    EXPECT_EQ(now.running, 2U);
    EXPECT_EQ(now.queued, 3U);
    EXPECT_EQ(g.limit(), 2U);
    co_return;
  }));
  EXPECT_EQ(order, (words{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(BoundedGroup, StartWhenFreeReturnsWhenTheChildHasAPlace) {
  loop.run(with_task_group(2, [this](task_group& g) -> task<> {
    for (int i = 0; i < 6; ++i) {
      const bool begun = co_await g.start_when_free(child(seconds(1), std::to_string(i)));
      LT_REQUIRE(begun);
      EXPECT_EQ(now(), seconds(i / 2)) << i;
    }
    EXPECT_EQ(g.statistics().started, 6U);
  }));
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(BoundedGroup, WhoeverAskedFirstGetsThePlaceFirstQueuedOrWaiting) {
  loop.run(with_task_group([this](task_group& outer) -> task<> {
    auto inner = [this, &outer](task_group& g) -> task<> {
      g.start(child(seconds(1), "running"));
      g.start(child(seconds(1), "queued 1"));
      auto waits = [](task_group& in, task<> what) -> task<> {
        const bool begun = co_await in.start_when_free(std::move(what));
        LT_REQUIRE(begun);
      };
      outer.start(waits(g, child(seconds(1), "waiting")));
      co_await yield();
      co_await yield();
      EXPECT_EQ(g.statistics().waiting, 1U);
      g.start(child(seconds(1), "queued 2"));
      co_await sleep_for(seconds(5));
    };
    co_await with_task_group(1, inner);
  }));
  EXPECT_EQ(order, (words{"running", "queued 1", "waiting", "queued 2"}));
  EXPECT_EQ(most, 1U);
}

TEST_F(BoundedGroup, ACancelledWaitForAPlaceDestroysTheChild) {
  auto owned_by_child = std::make_shared<int>(1);
  loop.run(with_task_group(1, [&](task_group& g) -> task<> {
    g.start(child(seconds(10), "running"));
    auto waits = [](task_group& in, std::shared_ptr<int> what) -> task<> {
      static_cast<void>(co_await in.start_when_free(keeps(std::move(what))));
    };
    const bool in_time = co_await move_on_after(seconds(1), waits(g, owned_by_child));
    EXPECT_FALSE(in_time);
    EXPECT_EQ(owned_by_child.use_count(), 1);
    EXPECT_EQ(g.statistics().waiting, 0U);
    EXPECT_EQ(g.statistics().refused, 1U);
  }));
  EXPECT_EQ(now(), seconds(10));
}

TEST_F(BoundedGroup, InACancelledScopeStartWhenFreeRefusesThoughAPlaceIsFree) {
  auto owned_by_child = std::make_shared<int>(1);
  loop.run(with_task_group(1, [&](task_group& g) -> task<> {
    g.cancel();
    bool threw = false;
    try {
      static_cast<void>(co_await g.start_when_free(keeps(owned_by_child)));
    } catch (const cancelled&) {
      threw = true;
    }
    EXPECT_TRUE(threw);
    EXPECT_EQ(g.statistics().started, 0U);
    EXPECT_EQ(g.statistics().refused, 1U);
  }));
  EXPECT_EQ(owned_by_child.use_count(), 1);
}

TEST_F(BoundedGroup, ACancelledGroupTellsThoseWhoWaitFromOutside) {
  std::string told;
  loop.run(with_task_group([&](task_group& outer) -> task<> {
    auto inner = [&](task_group& g) -> task<> {
      g.start(child(hours(1), "running"));
      auto waits = [](task_group& in, task<> what, std::string& to) -> task<> {
        const bool begun = co_await in.start_when_free(std::move(what));
        to = begun ? "begun" : "refused";
      };
      outer.start(waits(g, child(seconds(1), "never"), told));
      co_await sleep_for(seconds(1));
      g.cancel();
    };
    co_await with_task_group(1, inner);
  }));
  EXPECT_EQ(told, "refused");
  EXPECT_EQ(order, (words{"running", "running cancelled"}));
}

TEST_F(BoundedGroup, WhatIsQueuedWhenAChildFailsNeverBegins) {
  auto owned_by_child = std::make_shared<int>(1);
  EXPECT_THROW(loop.run(with_task_group(1,
                                        [&](task_group& g) -> task<> {
                                          g.start([]() -> task<> {
                                            co_await sleep_for(seconds(1));
                                            throw std::runtime_error("boom");
                                          });
                                          g.start(child(seconds(1), "never"));
                                          g.start(keeps(owned_by_child));
                                          co_return;
                                        })),
               std::runtime_error);
  EXPECT_EQ(order, words{});
  EXPECT_EQ(owned_by_child.use_count(), 1);
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(BoundedGroup, RefusedChildrenMakeACancellationFromOutsideKnown) {
  bool went_on = false;
  auto body = [this](task_group& g) -> task<> {
    g.start([]() -> task<> { co_await shield([]() -> task<> { co_await sleep_for(seconds(2)); }()); });
    g.start(child(seconds(1), "never"));
    co_return;
  };
  auto around = [&]() -> task<> {
    co_await with_task_group(1, body);
    went_on = true;
  };
  const bool in_time = loop.run(move_on_after(seconds(1), around()));
  EXPECT_FALSE(in_time);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(order, words{});
}

TEST_F(BoundedGroup, QueuedChildrenAndThoseThatWaitAreDestroyedWithTheLoop) {
  auto owned_by_child = std::make_shared<int>(1);
  auto body = [&](task_group& g) -> task<> {
    g.start(child(hours(1), "running"));
    g.start(keeps(owned_by_child));
    static_cast<void>(co_await g.start_when_free(keeps(owned_by_child)));
  };
  spawn(loop, with_task_group(1, body));
  loop.call_later(seconds(1), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(owned_by_child.use_count(), 3);
  owned.reset();
  EXPECT_EQ(owned_by_child.use_count(), 1);
}

TEST_F(BoundedGroup, AHundredThousandChildrenTenAtATime) {
  std::size_t ended = 0;
  loop.run(with_task_group(10, [&](task_group& g) -> task<> {
    for (int i = 0; i < 100'000; ++i) {
      const bool begun = co_await g.start_when_free([this, &ended]() -> task<> {
        most = std::max(most, ++running);
        co_await yield();
        --running;
        ++ended;
      });
      LT_REQUIRE(begun);
    }
  }));
  EXPECT_EQ(ended, 100'000U);
  EXPECT_EQ(most, 10U);
}

TEST_F(BoundedGroup, ALimitOfNoneIsMisuse) {
  EXPECT_DEATH(loop.run(with_task_group(0, [](task_group&) -> task<> { co_return; })), "no child may run");
}

}  // namespace
}  // namespace looptask
