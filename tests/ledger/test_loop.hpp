#pragma once
// A real loop that a test turns by hand.
#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

namespace looptask::ledger {

class test_loop {
 public:
  operator loop&() noexcept { return loop_; }  // NOLINT(google-explicit-constructor)
  loop* operator->() noexcept { return &loop_; }

  // Turns until `reached` holds; waits for real events in between.
  template <class Condition>
  void run_until(Condition reached) {
    while (!reached()) loop_.run_once();
  }

  // Runs what is ready now, and what that made ready.
  void settle() {
    bool idle = false;
    loop_.call_idle([&idle] { idle = true; });
    run_until([&idle] { return idle; });
  }

 private:
  real_host host_;
  loop loop_{host_};
};

}  // namespace looptask::ledger
