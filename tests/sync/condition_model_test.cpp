// condition and mutex under random loads: whoever is cancelled and whenever, no change goes unseen and no lock is lost.
#include <looptask/condition.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include <looptask/sleep.hpp>

#include "sync/trials.hpp"

namespace looptask {
namespace {

using std::chrono::milliseconds;

struct store {
  mutex m;
  condition arrived;
  int stock = 0;
  int inside = 0;      // tasks that hold the mutex
  std::string broken;  // the first rule that was: an assertion of RapidCheck does not pass through a loop

  void rule(bool holds, const char* what) {
    if (!holds && broken.empty()) broken = what;
  }

  struct visit {
    explicit visit(store& s) : of(s) { of.rule(++of.inside == 1, "two have the mutex"); }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { --of.inside; }
    store& of;
  };
};

task<std::string> takes(store& from, milliseconds holds) {
  auto held = co_await from.m.lock();
  while (from.stock == 0) {
    bool struck = false;
    try {
      co_await from.arrived.wait(held);
    } catch (const cancelled&) {
      struck = true;
    }
    from.rule(held.owns_lock() && from.m.statistics().locked && from.inside == 0, "back from wait without the mutex");
    if (struck) throw cancelled();
  }
  const store::visit mine(from);
  --from.stock;
  if (holds > milliseconds(0)) co_await sleep_for(holds);
  co_return "took";
}

task<std::string> puts(store& into, milliseconds holds, int count) {
  auto held = co_await into.m.lock();
  const store::visit mine(into);
  into.stock += count;
  for (int i = 0; i < count; ++i) into.arrived.notify_one();
  if (holds > milliseconds(0)) co_await sleep_for(holds);
  co_return "put";
}

RC_GTEST_PROP(ConditionModel, NoChangeGoesUnseenWhoeverIsCancelled, ()) {
  const auto actions = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000));
  const bool destroyed = *rc::gen::arbitrary<bool>();
  store one;
  int put = 0;
  std::vector<std::size_t> takers;
  {
    trials real;
    milliseconds at(0);
    for (const int action : actions) {
      const int n = action / 10;
      at += milliseconds(n % 2);
      real.loop().call_at(monotonic_time(at), [&, action, n] {
        if (action % 10 < 3) {
          takers.push_back(real.start(takes(one, milliseconds(n % 3))));
        } else if (action % 10 < 5) {
          const int count = 1 + n % 2;
          put += count;
          real.start(puts(one, milliseconds(2 + n % 4), count));
        } else {  // one of those that have waited longest: the next to be notified, or just notified
          const auto words = real.outcomes();
          std::erase_if(takers, [&words](std::size_t who) { return words[who] != "waits"; });
          if (!takers.empty()) real.cancel(takers[static_cast<std::size_t>(n) % std::min<std::size_t>(takers.size(), 3)]);
        }
      });
      // In between nobody runs: who waits for stock then does so because there is none, or because the mutex is taken.
      real.loop().call_at(monotonic_time(at) + std::chrono::microseconds(500), [&one] {
        const bool may_wait = one.stock == 0 || one.m.statistics().locked;
        one.rule(may_wait || one.arrived.statistics().waiting == 0, "stock is there, and somebody waits for it");
      });
    }
    if (destroyed) {
      real.loop().call_at(monotonic_time(at / 2), [&] { real.loop().stop(); });
      real.run();
    } else {
      real.run();
      RC_ASSERT(!one.m.statistics().locked);
      RC_ASSERT(one.stock == 0 || one.arrived.statistics().waiting == 0U);
      const auto words = real.outcomes();
      RC_ASSERT(one.arrived.statistics().waiting == static_cast<std::size_t>(std::count(words.begin(), words.end(), "waits")));
    }
    real.end_of_loop();
    RC_ASSERT(real.nothing_left());
  }
  RC_ASSERT(one.broken == "");
  RC_ASSERT(one.inside == 0);
  RC_ASSERT(!one.m.statistics().locked);
  RC_ASSERT(one.m.statistics().waiting == 0U);
  RC_ASSERT(one.arrived.statistics().waiting == 0U);
  RC_ASSERT(one.stock <= put);
}

}  // namespace
}  // namespace looptask
