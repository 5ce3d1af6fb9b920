#include "loop/timer_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>
#include <vector>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

namespace looptask {
namespace {

class plain_timer final : public timer {
 public:
  plain_timer(loop& l, int n) : timer(l), number(n) {}
  ~plain_timer() = default;
  int number;

 private:
  void on_timer() override {}
};

struct expected {
  std::int64_t deadline;
  int number;
  bool operator<(const expected& other) const { return std::tie(deadline, number) < std::tie(other.deadline, other.number); }
};

monotonic_time at(std::int64_t ns) { return monotonic_time(duration(ns)); }

// Steps whose sizes are spread over all levels of the wheel.
rc::Gen<std::int64_t> a_delay() {
  return rc::gen::mapcat(rc::gen::inRange(0, 50),
                         [](int bits) { return rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << bits); });
}

RC_GTEST_PROP(TimerQueueModel, FiresLikeASortedList, ()) {
  real_host host;
  loop unused(host);
  timer_queue queue(at(1000));
  std::deque<plain_timer> timers;
  std::vector<plain_timer*> live;
  std::vector<expected> model;  // in order of arming; their numbers give the order of firing
  std::int64_t now = 1000;
  const int steps = *rc::gen::inRange(1, 120);
  for (int i = 0; i < steps; ++i) {
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
      case 1: {  // arm, now and then several for one deadline
        const std::int64_t when = now + *a_delay();
        for (int same = *rc::gen::inRange(1, 4); same > 0; --same) {
          timers.emplace_back(unused, static_cast<int>(timers.size()));
          queue.insert(timers.back(), at(when));
          live.push_back(&timers.back());
          model.push_back({when, timers.back().number});
        }
        break;
      }
      case 2: {  // cancel
        if (live.empty()) break;
        const auto which = *rc::gen::inRange<std::size_t>(0, live.size());
        plain_timer* const t = live[which];
        queue.erase(*t);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        std::erase_if(model, [&](const expected& e) { return e.number == t->number; });
        break;
      }
      default: {  // let time pass; at the end, or half the time, exactly to the next deadline
        now += *a_delay();
        if (*rc::gen::arbitrary<bool>() && queue.next()) now = std::max(now, queue.next()->time_since_epoch().count());
        queue.collect(at(now));
        std::sort(model.begin(), model.end());
        std::vector<int> fired;
        while (timer* const t = queue.pop()) {
          fired.push_back(static_cast<plain_timer*>(t)->number);
          std::erase(live, static_cast<plain_timer*>(t));
        }
        std::vector<int> due;
        while (!model.empty() && model.front().deadline <= now) {
          due.push_back(model.front().number);
          model.erase(model.begin());
        }
        RC_ASSERT(fired == due);
      }
    }
    RC_ASSERT(queue.size() == model.size());
    if (model.empty()) {
      RC_ASSERT(!queue.next());
    } else {
      const std::int64_t first = std::min_element(model.begin(), model.end())->deadline;
      RC_ASSERT(queue.next() <= at(first));
      if (model.size() < 32) RC_ASSERT(queue.next() == at(first));
    }
  }
  while (queue.pop_any() != nullptr) {
  }
  RC_ASSERT(queue.size() == 0U);
}

struct TimerQueue : testing::Test {
  real_host host;
  loop owner{host};
  timer_queue queue{at(0)};
};

TEST_F(TimerQueue, ACrowdedFarSlotIsReachedInAFewWakings) {
  std::deque<plain_timer> timers;
  for (int i = 0; i < 1000; ++i) {
    timers.emplace_back(owner, i);
    queue.insert(timers.back(), at(3'600'000'000'000 + i * 1000));
  }
  int wakings = 0;
  while (queue.size() == 1000U) {
    ASSERT_LT(++wakings, 9);
    queue.collect(*queue.next());
    while (queue.pop() != nullptr) {
    }
  }
  while (queue.pop_any() != nullptr) {
  }
}

// Far more in one slot than are sorted by insertion, with many equal deadlines, and some cancelled while they are due. The
// spans fill slots of the level of 65 us and of the one above.
struct TimersDueAtOnce : TimerQueue, testing::WithParamInterface<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(WithinNanoseconds, TimersDueAtOnce, testing::Values(150'000, 60'000'000));
TEST_P(TimersDueAtOnce, ComeInOrderOfDeadlineThenOfArming) {
  std::deque<plain_timer> timers;
  std::vector<expected> model;
  std::uint64_t random = 7;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::int64_t step = GetParam() / 50'000;
    const auto when = 1'000'000 + static_cast<std::int64_t>(random >> 33U) % 50'000 * step;
    timers.emplace_back(owner, i);
    queue.insert(timers.back(), at(when));
    model.push_back({when, i});
  }
  std::sort(model.begin(), model.end());
  queue.collect(at(100'000'000));
  queue.erase(timers[100]);
  queue.erase(timers[19'999]);
  std::erase_if(model, [](const expected& e) { return e.number == 100 || e.number == 19'999; });
  std::vector<int> fired;
  while (timer* const t = queue.pop()) fired.push_back(static_cast<plain_timer*>(t)->number);
  std::vector<int> due;
  for (const expected& e : model) due.push_back(e.number);
  EXPECT_EQ(fired, due);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(TimerQueue, HoldsDeadlinesAtTheEndOfTime) {
  plain_timer last(owner, 0);
  queue.insert(last, monotonic_time::max());
  EXPECT_EQ(queue.next(), monotonic_time::max());
  queue.collect(at(std::numeric_limits<std::int64_t>::max() - 1));
  EXPECT_EQ(queue.pop(), nullptr);
  queue.collect(monotonic_time::max());
  EXPECT_EQ(queue.pop(), &last);
}

TEST_F(TimerQueue, ATimerErasedAfterItWasCollectedIsNotPopped) {
  plain_timer a(owner, 0);
  plain_timer b(owner, 1);
  queue.insert(a, at(5));
  queue.insert(b, at(6));
  queue.collect(at(10));
  queue.erase(a);
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace looptask
