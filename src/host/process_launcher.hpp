#pragma once
// The threads that start children, one after another, in the order asked for. vfork stands still until the child has become
// its program, so it is never the loop's thread; and they live as long as the port does, so nothing that the kernel ties to the
// starting thread ends early.
//
// A start can hang: a program or folder on a dead network file system, a lease on the program. One that has taken longer than
// `patience` no longer holds up those behind it: another thread goes on with them, up to `most` threads. A hanging start that
// is stopped has its child killed; if nothing comes of that within `bound` it is reported with ETIMEDOUT, and whatever comes of
// it later is killed, and told to nobody.
//
//   process_launcher launcher(50'000, [](std::uint64_t ticket, launched child) { ... });  // called on a launcher's thread
//   launcher.begin(1, spec);
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <looptask/function.hpp>
#include <looptask/host.hpp>

#include "host/process_launch.hpp"

namespace looptask {

class process_launcher {
 public:
  // Must not block, nor call the launcher.
  using report = unique_function<void(std::uint64_t ticket, launched child)>;

  struct limits {
    std::chrono::milliseconds patience{1000};
    std::chrono::milliseconds bound{5000};
    std::chrono::milliseconds last_wait{1000};  // of the destructor, for starts that hang
    std::size_t most = 16;
  };

  // `timer_slack`: nanoseconds, for the children; they would inherit that of the loop's thread, which wants none. Throws
  // std::system_error if there can be no thread.
  process_launcher(unsigned long timer_slack, report done, limits how);
  process_launcher(unsigned long timer_slack, report done);
  // No report from here on. What has not begun is dropped, what is under way is stopped; a thread that hangs even so is left
  // behind, and kills what comes of it.
  ~process_launcher();
  process_launcher(const process_launcher&) = delete;
  process_launcher& operator=(const process_launcher&) = delete;

  void begin(std::uint64_t ticket, process_spec spec);  // any thread
  bool withdraw(std::uint64_t ticket);                  // any thread; true: it had not begun and never will, without a report
  void stop(std::uint64_t ticket) noexcept;             // any thread; nothing if it is not under way (any more)

 private:
  class crew;
  std::shared_ptr<crew> crew_;  // shared with its threads: one that hangs may outlive this
};

}  // namespace looptask
