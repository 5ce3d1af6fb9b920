#include <looptask/debug.hpp>

#include <cstdlib>
#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

std::vector<std::string> reports;
void keep(std::string_view text) { reports.emplace_back(text); }

struct DebugMode : in_a_world {
  DebugMode() {
    reports.clear();
    on_debug_report(keep);
    set_debug_mode(true);
  }
  ~DebugMode() {
    set_debug_mode(false);
    on_debug_report(nullptr);
  }
  static task<> rests() { co_await sleep_for(hours(1)); }
  static task<> fails_soon() {
    co_await sleep_for(seconds(1));
    throw std::runtime_error("boom");
  }
  static testing::AssertionResult said(std::initializer_list<const char*> parts) {
    for (const std::string& text : reports) {
      bool all = true;
      for (const char* part : parts) all = all && text.find(part) != std::string::npos;
      if (all) return testing::AssertionSuccess();
    }
    auto failure = testing::AssertionFailure() << "reports:";
    for (const std::string& text : reports) failure << '\n' << text;
    return failure;
  }
};

TEST_F(DebugMode, ATaskThatNobodyAwaitsIsReportedWithItsCoroutine) {
  { const task<> lost = rests(); }
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(said({"rests", "debug_test.cpp:", "was never awaited"}));
}

TEST_F(DebugMode, WithoutItSuchATaskIsFreedQuietly) {
  set_debug_mode(false);
  { const task<> lost = rests(); }
  EXPECT_TRUE(reports.empty());
}

TEST_F(DebugMode, TasksThatBeginAreNotReported) {
  auto inner = []() -> task<int> { co_return 1; };
  auto body = [&]() -> task<> {
    static_cast<void>(co_await inner());
    static_cast<void>(co_await move_on_after(seconds(1), rests()));
    co_await with_task_group([](task_group& g) -> task<> {
      g.start([]() -> task<> { co_await sleep_for(seconds(1)); });
      co_return;
    });
  };
  loop.run(body());
  spawn(loop, rests());
  owned.reset();
  EXPECT_TRUE(reports.empty()) << reports.front();
}

TEST_F(DebugMode, AChildThatAGroupRefusesIsNotReported) {
  loop.run(with_task_group(1, [](task_group& g) -> task<> {
    g.start(rests());
    g.start(rests());
    auto waits = [](task_group& in) -> task<> { static_cast<void>(co_await in.start_when_free(rests())); };
    static_cast<void>(co_await move_on_after(seconds(1), waits(g)));
    g.cancel();
  }));
  EXPECT_TRUE(reports.empty()) << reports.front();
}

TEST_F(DebugMode, AnExceptionThatNobodyAwaitsIsReportedWithItsTaskAndWhereThatWasSpawned) {
  std::size_t handled = 0;
  loop.on_error([&](const std::exception_ptr&) { ++handled; });
  spawn(loop, fails_soon());
  loop.run();
  EXPECT_EQ(handled, 1U);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(said({"fails_soon", "started at", "debug_test.cpp:", "nobody awaits: boom"}));
}

TEST_F(DebugMode, AnExceptionOfATaskWhoseHandleIsDroppedIsReportedWithIt) {
  std::size_t handled = 0;
  loop.on_error([&](const std::exception_ptr&) { ++handled; });
  start_task(loop, fails_soon()).detach();
  loop.run();
  EXPECT_EQ(handled, 1U);
  EXPECT_TRUE(said({"fails_soon", "nobody awaits: boom"}));
}

TEST_F(DebugMode, AScopeDestroyedInUseNamesTheTasksInIt) {
  EXPECT_DEATH(
      {
        on_debug_report(nullptr);
        cancel_scope scope(loop);
        spawn(loop, scope, rests(), [](outcome<>) {});
        loop.run_once();
      },
      "still in the scope: task '.*rests.*started at .*debug_test.cpp:.*\n.*cancel_scope destroyed");
}

TEST_F(DebugMode, AnAssertionNamesTheTaskThatRuns) {
  auto culprit = []() -> task<> {
    task<> empty;
    co_await std::move(empty);
  };
  EXPECT_DEATH(
      {
        on_debug_report(nullptr);
        loop.run(with_task_group([&](task_group& g) -> task<> {
          g.start(culprit());
          co_return;
        }));
      },
      "in task '.*debug_test.cpp:.*started at .*debug_test.cpp:");
}

TEST_F(DebugMode, ReportsGoToStandardErrorUnlessSomebodyTakesThem) {
  on_debug_report(nullptr);
  testing::internal::CaptureStderr();
  { const task<> lost = rests(); }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("was never awaited"), std::string::npos);
}

TEST_F(DebugMode, SwitchedOnLateItSaysSo) {
  set_debug_mode(false);
  {
    const task<> lost = rests();
    set_debug_mode(true);
  }
  EXPECT_TRUE(said({"a task made before debug mode was never awaited"}));
}

TEST_F(DebugMode, TheEnvironmentCountsOnlyWhereTheApplicationAsks) {
  setenv("LOOPTASK_DEBUG", "0", 1);
  EXPECT_FALSE(set_debug_mode_from_environment());
  EXPECT_FALSE(debug_mode());
  setenv("LOOPTASK_DEBUG", "1", 1);
  EXPECT_FALSE(debug_mode());
  EXPECT_TRUE(set_debug_mode_from_environment());
  EXPECT_TRUE(debug_mode());
  unsetenv("LOOPTASK_DEBUG");
  EXPECT_FALSE(set_debug_mode_from_environment());
}

}  // namespace
}  // namespace looptask
