// Every kind of wait, cancelled before, during and after, and destroyed with its loop: a result or a cancellation, never both,
// never neither, and nothing is lost or left over.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cancellation/kind.hpp"

namespace looptask::tests {
namespace {

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

struct Cancellation : testing::TestWithParam<kind> {
  const kind& of = GetParam();
  const std::int64_t frames_before = memory_pool::live();
  const std::ptrdiff_t descriptors_before = open_descriptors();
  std::unique_ptr<sim::world> world = std::make_unique<sim::world>(1);
  std::unique_ptr<real_host> machine = of.real ? std::make_unique<real_host>() : nullptr;
  std::unique_ptr<trial> it;
  std::unique_ptr<looptask::loop> loop =
      of.real ? std::make_unique<looptask::loop>(*machine) : std::make_unique<looptask::loop>(*world);
  std::unique_ptr<cancel_scope> scope = std::make_unique<cancel_scope>(*loop);
  bool delivered = false;
  bool further = false;  // beyond the next await
  bool over = false;
  bool gave_way = false;

  void SetUp() override { it = of.make(*loop, *world); }
  void TearDown() override {
    loop.reset();
    it.reset();
    scope.reset();
    world.reset();
    machine.reset();
    EXPECT_EQ(memory_pool::live(), frames_before) << "frames left over";
    EXPECT_EQ(open_descriptors(), descriptors_before) << "descriptors left over";
  }

  task<> line() {
    co_await it->wait();
    delivered = true;
    co_await yield();
    further = true;
  }
  void begin() {
    spawn(*loop, *scope, line(), [this](outcome<> how) {
      over = true;
      try {
        std::move(how).get();
      } catch (const cancelled&) {
        gave_way = true;
      }
    });
  }
  hook cancelling() {
    return [this] { scope->cancel(); };
  }
  void expect_cancelled(bool with_the_result) {
    EXPECT_TRUE(over);
    EXPECT_TRUE(gave_way);
    EXPECT_EQ(delivered, with_the_result);
    EXPECT_FALSE(further);
    EXPECT_TRUE(it->whole());
  }
  // What was cancelled has taken nothing with it.
  void expect_that_it_can_be_awaited_again() {
    scope = std::make_unique<cancel_scope>(*loop);
    delivered = further = over = gave_way = false;
    it->plan({}, {});
    begin();
    loop->run();
    EXPECT_TRUE(delivered && further && over && !gave_way);
    EXPECT_TRUE(it->whole());
  }
};

// Of those that do not end as soon as they have begun.
struct CancellationOfAWait : Cancellation {};
// Of those whose end can be met from outside: that are not made of several waits.
struct CancellationAtTheEnd : Cancellation {};
struct CancellationAtTheEndOfAWait : Cancellation {};

TEST_P(Cancellation, WithoutOneItEnds) {
  it->plan({}, {});
  begin();
  loop->run();
  EXPECT_TRUE(delivered && further && over && !gave_way);
  EXPECT_TRUE(it->whole());
}

TEST_P(Cancellation, BeforeTheAwaitItThrows) {
  it->plan({}, {});
  scope->cancel();
  begin();
  loop->run();
  expect_cancelled(false);
  expect_that_it_can_be_awaited_again();
}

TEST_P(CancellationOfAWait, WhileItWaitsItIsTakenBackOrWaitedFor) {
  it->plan({}, {});
  begin();
  loop->call_later(std::chrono::microseconds(10), cancelling());
  loop->run();
  expect_cancelled(!of.taken_back);
  expect_that_it_can_be_awaited_again();
}

TEST_P(CancellationAtTheEnd, AfterItsEndInTheSameTurnTheResultIsDelivered) {
  it->plan({}, cancelling());
  begin();
  loop->run();
  expect_cancelled(true);
  expect_that_it_can_be_awaited_again();
}

TEST_P(CancellationAtTheEndOfAWait, BeforeItsEndInTheSameTurnThereIsNoResult) {
  it->plan(cancelling(), {});
  begin();
  loop->run();
  expect_cancelled(!of.taken_back);
  expect_that_it_can_be_awaited_again();
}

TEST_P(Cancellation, DestroyedWithItsLoopItLeavesNothing) {
  it->plan({}, {});
  begin();
  loop->run_once();
  loop.reset();
  it->loop_is_gone = true;
  EXPECT_FALSE(over);
  EXPECT_TRUE(it->whole());
}

std::vector<kind> kinds_that(bool (*are)(const kind&)) {
  std::vector<kind> all_kinds = kinds();
  std::vector<kind> all;
  for (kind& one : all_kinds) {
    if (are(one)) all.push_back(std::move(one));
  }
  return all;
}
std::string name_of(const testing::TestParamInfo<kind>& one) { return one.param.name; }

INSTANTIATE_TEST_SUITE_P(Each, Cancellation, testing::ValuesIn(kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Each, CancellationOfAWait, testing::ValuesIn(kinds_that([](const kind& k) { return k.waits; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Each, CancellationAtTheEnd, testing::ValuesIn(kinds_that([](const kind& k) { return k.timed; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Each, CancellationAtTheEndOfAWait,
                         testing::ValuesIn(kinds_that([](const kind& k) { return k.timed && k.waits; })), name_of);

}  // namespace
}  // namespace looptask::tests
