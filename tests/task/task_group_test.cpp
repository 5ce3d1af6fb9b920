#include <looptask/task_group.hpp>

#include <algorithm>
#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

struct TaskGroup : in_a_world {
  task<> child(duration d, std::string name) {
    try {
      co_await sleep_for(d);
    } catch (const cancelled&) {
      note(name + " cancelled");
      throw;
    }
    note(name);
  }
  static task<> fails_after(duration d, std::string what) {
    co_await sleep_for(d);
    throw std::runtime_error(what);
  }
  static task<> child_that_takes(duration d) { co_await sleep_for(d); }
  static task<> fails_when_cancelled(std::string what) {
    try {
      co_await sleep_for(hours(1));
    } catch (const cancelled&) {
      throw std::runtime_error(what);
    }
  }
};

TEST_F(TaskGroup, EndsWhenAllChildrenHaveEnded) {
  loop.run(with_task_group([this](task_group& g) -> task<> {
    g.start(child(seconds(2), "slow"));
    g.start(child(seconds(1), "fast"));
    EXPECT_EQ(g.running(), 2U);
    co_return;
  }));
  EXPECT_EQ(order, (words{"fast", "slow"}));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(TaskGroup, WithoutChildrenEndsWithItsBody) {
  loop.run(with_task_group([this](task_group&) -> task<> {
    co_await sleep_for(seconds(1));
    note("body");
  }));
  EXPECT_EQ(order, (words{"body"}));
}

TEST_F(TaskGroup, OneFailureIsRethrownAsItIsAndCancelsTheOthers) {
  try {
    loop.run(with_task_group([this](task_group& g) -> task<> {
      g.start(child(hours(1), "sibling"));
      g.start(fails_after(seconds(1), "boom"));
      co_await sleep_for(hours(1));
      note("not reached");
    }));
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "boom");
  }
  EXPECT_EQ(order, (words{"sibling cancelled"}));
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(TaskGroup, AFailureOfTheBodyCancelsTheChildren) {
  EXPECT_THROW(loop.run(with_task_group([this](task_group& g) -> task<> {
    g.start(child(hours(1), "child"));
    co_await fails_after(seconds(1), "body");
  })),
               std::runtime_error);
  EXPECT_EQ(order, (words{"child cancelled"}));
}

TEST_F(TaskGroup, SeveralFailuresAreOneAggregateError) {
  try {
    loop.run(with_task_group([](task_group& g) -> task<> {
      g.start(fails_when_cancelled("second"));
      g.start(fails_after(seconds(1), "first"));
      co_return;
    }));
    FAIL();
  } catch (const aggregate_error& e) {
    EXPECT_STREQ(e.what(), "2 tasks failed: first; second");
    EXPECT_EQ(e.errors().size(), 2U);
  }
}

TEST_F(TaskGroup, CancellationFromOutsideReachesBodyAndChildren) {
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), with_task_group([this](task_group& g) -> task<> {
                                        g.start(child(hours(1), "child"));
                                        co_await child(hours(2), "body");
                                      }))));
  EXPECT_EQ(order, (words{"body cancelled", "child cancelled"}));
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(TaskGroup, CancellationFromOutsideReachesChildrenWhileTheBodyIsOver) {
  EXPECT_FALSE(loop.run(move_on_after(seconds(1), with_task_group([this](task_group& g) -> task<> {
                                        g.start(child(hours(1), "child"));
                                        co_return;
                                      }))));
  EXPECT_EQ(order, (words{"child cancelled"}));
}

TEST_F(TaskGroup, WorkThatIsDoneWhenTheCancellationComesCounts) {
  EXPECT_TRUE(loop.run(move_on_after(seconds(1), with_task_group([](task_group& g) -> task<> {
                                       g.start(shield(child_that_takes(seconds(2))));
                                       co_return;
                                     }))));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(TaskGroup, CancellingTheGroupItselfEndsItNormally) {
  loop.run(with_task_group([this](task_group& g) -> task<> {
    g.start(child(hours(1), "child"));
    co_await sleep_for(seconds(1));
    g.cancel();
    note("body goes on");
  }));
  EXPECT_EQ(order, (words{"body goes on", "child cancelled"}));
}

TEST_F(TaskGroup, AChildMayStartSiblings) {
  loop.run(with_task_group([this](task_group& g) -> task<> {
    g.start([this, &g]() -> task<> {
      co_await sleep_for(seconds(1));
      g.start(child(seconds(1), "sibling"));
    });
    co_return;
  }));
  EXPECT_EQ(order, (words{"sibling"}));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(TaskGroup, AChildStartedBetweenTheEndOfTheLastOneAndTheNextTurnIsWaitedFor) {
  task_group* group = nullptr;
  loop.run(with_task_group([&](task_group& g) -> task<> {
    group = &g;
    g.start(child(seconds(1), "first"));
    co_await yield();  // the child sleeps: what is armed from here on comes after it
    loop.call_at(monotonic_time(seconds(1)), [&] {
      loop.call_soon([&] {  // behind the child, which ends in this turn
        EXPECT_EQ(group->running(), 0U);
        group->start(child(seconds(1), "late"));
      });
    });
  }));
  EXPECT_EQ(order, (words{"first", "late"}));
  EXPECT_EQ(now(), seconds(2));
}

TEST_F(TaskGroup, ChildrenOfABodyThatIsNoCoroutineAndThrowsAreCancelledAndWaitedFor) {
  const auto body = [this](task_group& g) -> task<> {
    g.start(child(hours(1), "asleep"));
    g.start(shield(child(seconds(1), "shielded")));
    throw std::runtime_error("no coroutine");
  };
  try {
    loop.run(with_task_group(body));
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "no coroutine");
  }
  EXPECT_EQ(order, (words{"asleep cancelled", "shielded"}));
  EXPECT_EQ(now(), seconds(1));
}

TEST_F(TaskGroup, ATimeoutInsideAChildIsItsOwn) {
  loop.run(with_task_group([this](task_group& g) -> task<> {
    g.start([this]() -> task<> {
      const bool done = co_await move_on_after(seconds(1), child(hours(1), "late"));
      note(done ? "done" : "moved on");
    });
    g.start(child(seconds(3), "sibling"));
    co_return;
  }));
  EXPECT_EQ(order, (words{"late cancelled", "moved on", "sibling"}));
}

TEST_F(TaskGroup, ChildrenEndBeforeTheFrameTheyReferToWhenTheLoopGoes) {
  auto host_frame = [](std::vector<std::string>& o) -> task<> {
    auto witness = std::make_unique<std::string>("alive");
    auto child_body = [](std::string& w, std::vector<std::string>& to) -> task<> {
      struct at_end {
        std::string& what;
        std::vector<std::string>& list;
        at_end(std::string& a, std::vector<std::string>& b) : what(a), list(b) {}
        at_end(const at_end&) = delete;
        at_end& operator=(const at_end&) = delete;
        ~at_end() { list.push_back(what); }
      } const end(w, to);
      co_await sleep_for(hours(1));
    };
    auto body = [&](task_group& g) -> task<> {
      g.start(child_body(*witness, o));
      co_await sleep_for(hours(1));
    };
    co_await with_task_group(body);
  };
  spawn(loop, host_frame(order));
  loop.call_later(seconds(1), [&] { loop.stop(); });
  loop.run();
  owned.reset();
  EXPECT_EQ(order, (words{"alive"}));
}

TEST_F(TaskGroup, AHundredThousandChildrenUnderASemaphore) {
  semaphore few(100);
  std::size_t most = 0;
  std::size_t running = 0;
  loop.run(with_task_group([&](task_group& g) -> task<> {
    for (int i = 0; i < 100'000; ++i) {
      g.start([&]() -> task<> {
        const auto permit = co_await few.acquire();
        most = std::max(most, ++running);
        co_await yield();
        --running;
      });
    }
    co_return;
  }));
  EXPECT_EQ(most, 100U);
  EXPECT_EQ(few.statistics().available, 100U);
}

}  // namespace
}  // namespace looptask
