#pragma once
// One child from its specification to its first instruction. Blocks until the child has become the program or has failed to,
// so it belongs on a thread that may wait, and on one that lives as long as its children should.
//
// Between vfork and exec the child shares this process's memory: it makes system calls and nothing else. It has its own
// session, every signal at its default and none blocked, umask 022, /dev/null as input, one pipe as output and error, no
// other descriptor, and the limit of descriptors from before real_host raised it. Every failure is reported with its errno and
// the step that failed. Needs Linux 5.9 (close_range).
//
// With containment `tree` the vfork makes the shim (process_shim.hpp), in a session of its own, and the shim makes the child,
// to which all of the above applies. Then the child is not ours to wait for: its shim is.
//
//   launched child = launch(spec);
//   if (child.error() != 0) report(child.error(), child.step());
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <looptask/host.hpp>

#include "host/descriptor.hpp"
#include "host/process_shim.hpp"

namespace looptask {

// A started child, or the reason why there is none. A child that is destroyed without release() is killed and reaped, with its
// tree if it has a shim: nobody else knows of it.
class launched {
 public:
  launched(int error, std::string step) : error_(error), step_(std::move(step)) {}
  launched(std::int32_t pid, std::uint64_t start_time, descriptor pidfd, descriptor output, shim_line shim = {})
      : pid_(pid), start_time_(start_time), pidfd_(std::move(pidfd)), output_(std::move(output)), shim_(std::move(shim)) {}
  launched(launched&& other) noexcept;
  launched& operator=(launched&&) = delete;
  ~launched();

  int error() const noexcept { return error_; }  // 0: it runs
  const std::string& step() const noexcept { return step_; }
  std::int32_t pid() const noexcept { return pid_; }
  std::uint64_t start_time() const noexcept { return start_time_; }

  struct descriptors {
    descriptor pidfd;   // close-on-exec
    descriptor output;  // close-on-exec, non-blocking
    shim_line shim;     // none: the child is our own
  };
  descriptors release() noexcept;  // the caller owns the child now, and reaps it

 private:
  int error_ = 0;
  std::string step_;
  std::int32_t pid_ = -1;
  std::uint64_t start_time_ = 0;
  descriptor pidfd_;
  descriptor output_;
  shim_line shim_;
};

// The way to a launch that is under way on another thread, and may hang there: on a dead network file system, on a lease.
class launch_control {
 public:
  launch_control() noexcept = default;
  launch_control(const launch_control&) = delete;
  launch_control& operator=(const launch_control&) = delete;

  // Any thread. A launch that has not come to its child yet fails with ECANCELED; a child that is not yet its program is
  // killed. Later: nothing.
  void stop() noexcept;

 private:
  friend class launching;
  bool child_may_go_on(std::int32_t pid) noexcept;  // called by the child, before it may block
  void child_is_there(std::int32_t pid) noexcept;   // called by the parent, which may still have to wait for the program
  void child_is_settled() noexcept;                 // before anybody may reap it

  std::atomic<bool> stopped_ = false;
  std::atomic<std::int32_t> pid_ = 0;
  std::mutex signalling_;  // as long as it is held, a pid that was read in it is the child's
};

// On a thread that has all its signals blocked. Throws std::bad_alloc only.
launched launch(const process_spec& spec, launch_control& control);
inline launched launch(const process_spec& spec) {
  launch_control nobody_stops_it;
  return launch(spec, nobody_stops_it);
}

}  // namespace looptask
