// semaphore against a model: any order of tasks that want some permits, give them back, and are cancelled.
#include <looptask/semaphore.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>

#include <looptask/event.hpp>

#include "sync/trials.hpp"

namespace looptask {
namespace {

struct holder {
  event may_go;
};

task<std::string> holds(semaphore& of, std::size_t count, holder& me) {
  const auto permit = co_await of.acquire(count);
  co_await me.may_go.wait();
  co_return "gave back";
}

class model {
 public:
  explicit model(std::size_t permits) : available(permits) {}

  void acquire(std::size_t count) {
    wanted_.push_back(count);
    outcomes.emplace_back("waits");
    line.push_back(outcomes.size() - 1);
    hand_out();
  }
  bool try_acquire(std::size_t count) const { return line.empty() && available >= count; }
  // Who waits for permits leaves at once; who has them gives them back in the next turn, in the order told.
  void cancel(std::size_t who) {
    if (std::erase(line, who) != 0) {
      outcomes[who] = "cancelled";
      hand_out();
    } else if (outcomes[who] == "waits" && !is_told(who)) {
      told_.emplace_back(who, "cancelled");
    }
  }
  void let_go(std::size_t who) {  // of one that holds
    if (outcomes[who] == "waits" && std::find(line.begin(), line.end(), who) == line.end() && !is_told(who)) {
      told_.emplace_back(who, "gave back");
    }
  }
  void run() {
    for (const auto& [who, how] : told_) {
      outcomes[who] = how;
      available += wanted_[who];
    }
    told_.clear();
    hand_out();
  }

  std::size_t available;
  std::deque<std::size_t> line;
  std::vector<std::string> outcomes;

 private:
  bool is_told(std::size_t who) const {
    return std::any_of(told_.begin(), told_.end(), [who](const auto& t) { return t.first == who; });
  }
  void hand_out() {
    while (!line.empty() && wanted_[line.front()] <= available) {
      available -= wanted_[line.front()];
      line.pop_front();
    }
  }
  std::vector<std::size_t> wanted_;
  std::vector<std::pair<std::size_t, std::string>> told_;
};

RC_GTEST_PROP(SemaphoreModel, AgreesWithCounting, ()) {
  const auto permits = *rc::gen::inRange<std::size_t>(1, 6);
  const auto actions = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000));
  semaphore of(permits);
  std::vector<std::unique_ptr<holder>> holders;
  trials real;
  model expected(permits);
  const auto run = [&] {
    real.run();
    expected.run();
  };
  for (const int action : actions) {
    const auto n = static_cast<std::size_t>(action / 10);
    switch (action % 10) {
      case 0:
      case 1:
      case 2:
        run();
        holders.push_back(std::make_unique<holder>());
        real.start(holds(of, 1 + n % permits, *holders.back()));
        real.run();
        expected.acquire(1 + n % permits);
        break;
      case 3:
      case 4:
      case 5:
        if (holders.empty()) break;
        run();
        if (std::find(expected.line.begin(), expected.line.end(), n % holders.size()) != expected.line.end()) break;
        holders[n % holders.size()]->may_go.set();
        expected.let_go(n % holders.size());
        break;
      case 6:
      case 7:
        if (holders.empty()) break;
        real.cancel(n % holders.size());
        expected.cancel(n % holders.size());
        break;
      case 8:
        RC_ASSERT(of.try_acquire(1 + n % permits).has_value() == expected.try_acquire(1 + n % permits));
        break;
      default:
        run();
    }
    RC_ASSERT(of.statistics().available == expected.available);
    RC_ASSERT(of.statistics().waiting == expected.line.size());
  }
  if (actions.size() % 2 == 0) {
    run();
    RC_ASSERT(real.outcomes() == expected.outcomes);
    real.cancel_all();
    real.run();
    RC_ASSERT(of.statistics().available == permits);
  }
  real.end_of_loop();
  RC_ASSERT(of.statistics().available == permits);
  RC_ASSERT(real.nothing_left());
}

}  // namespace
}  // namespace looptask
