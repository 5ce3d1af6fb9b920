#pragma once
// The thread that starts children, one after another, in the order asked for. vfork stands still until the child has become
// its program, so it is never the loop's thread; and it lives as long as the port does, so nothing that the kernel ties to the
// starting thread ends early.
//
//   process_launcher launcher(50'000, [](std::uint64_t ticket, launched child) { ... });  // called on the launcher's thread
//   launcher.begin(1, spec);
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include <looptask/function.hpp>
#include <looptask/host.hpp>

#include "host/process_launch.hpp"

namespace looptask {

class process_launcher {
 public:
  using report = unique_function<void(std::uint64_t ticket, launched child)>;

  // `timer_slack`: nanoseconds, for the children; they would inherit that of the loop's thread, which wants none.
  process_launcher(unsigned long timer_slack, report done);
  ~process_launcher();  // joins; what has not begun is dropped without a report
  process_launcher(const process_launcher&) = delete;
  process_launcher& operator=(const process_launcher&) = delete;

  void begin(std::uint64_t ticket, process_spec spec);  // any thread
  bool withdraw(std::uint64_t ticket);                  // any thread; true: it had not begun and never will, without a report

 private:
  struct request {
    std::uint64_t ticket;
    process_spec spec;
  };

  void work();
  std::optional<request> next();  // nullopt: stop

  const unsigned long timer_slack_;
  report done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<request> waiting_;  // guarded
  bool stopping_ = false;        // guarded
  std::thread thread_;           // the last member: it uses all others
};

}  // namespace looptask
