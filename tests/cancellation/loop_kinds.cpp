// What another loop does for a task, on a real host.
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "cancellation/kind.hpp"

namespace looptask::tests {
namespace {

// The other loop runs a task until it is told to end it.
struct runs_on_another_loop final : trial {
  runs_on_another_loop(looptask::loop& l, sim::world& w) : trial(l, w) {
    std::promise<loop_handle> made;
    std::future<loop_handle> handle = made.get_future();
    thread_ = std::thread([made = std::move(made)]() mutable {
      real_host host;
      looptask::loop there(host);
      const loop_hold hold = there.hold();
      made.set_value(there.handle());
      there.run();
    });
    there_ = handle.get();
  }
  ~runs_on_another_loop() override {
    there_.stop();
    thread_.join();
  }

  void plan(hook, hook) override {
    there_.post([this] { told_.clear(); });
    loop.call_later(std::chrono::milliseconds(1), [this] { there_.post([this] { told_.set(); }); });
  }
  task<> wait() override {
    auto work = [this]() -> task<> { co_await told_.wait(); };
    co_await run_on(there_, work);
  }

 private:
  event told_;  // the other thread's
  loop_handle there_;
  std::thread thread_;
};

}  // namespace

void add_loop_kinds(std::vector<kind>& to) {
  kind one;
  one.name = "run_on";
  one.covers = {"run_on.hpp run_on", "run_on.hpp run_on_operation", "run_on.hpp run_on_await", "run_on.hpp over_there"};
  one.make = making<runs_on_another_loop>();
  one.real = true;
  one.timed = false;
  to.push_back(std::move(one));
}

}  // namespace looptask::tests
