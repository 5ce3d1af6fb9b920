#pragma once
// Real children: the process_port of real_host. Owner: the loop's thread; a launcher thread starts the children, a sweeper
// thread searches /proc for those that must die, and both come home through the inbox.
//
// A child that has ended stays a zombie until the killing of its session begins or its handle is destroyed. As long as it does,
// its pid, and with it the name of its session and group, cannot become anybody else's. Afterwards the session has that name as
// long as anything lives in it, and the sweeper looks for evidence that it is still the same one. The port waits for its own
// children only, by pidfd; it reaps each of them, also when nobody holds its handle any more.
//
//   real_process_port processes(reactor, clock);
//   processes.attach(loop);
//   auto child = processes.spawn({.argv = {"true"}, .env = {"PATH=/usr/bin:/bin"}, .workdir = "/"}, events);
//   ...
//   processes.detach();
#include <cstddef>
#include <memory>

#include <looptask/host.hpp>

namespace looptask {

struct process_statistics {
  std::size_t launching = 0;
  std::size_t alive = 0;    // running, or ended and not yet reaped
  std::size_t started = 0;  // since the port was made
  std::size_t failed = 0;   // spawns that failed
};

class real_process_port final : public process_port {
 public:
  // Both must outlive the port.
  real_process_port(reactor_port& reactor, const clock_port& clock);
  ~real_process_port();
  real_process_port(const real_process_port&) = delete;
  real_process_port& operator=(const real_process_port&) = delete;

  // Before the loop's thread changes its timer slack: children get the slack it has now. Also sees to it that the exit of
  // children can be waited for (an inherited "ignore" of SIGCHLD would reap them unseen). Throws std::system_error if /proc
  // cannot be read; the port is as before then. Starts no thread: that comes with the first spawn or search. A spawn for which
  // no thread can be made fails by on_spawn_failed, a search throws std::system_error.
  void attach(inbox& home);
  // Stops the threads, and waits up to a second for the end of children that were sent KILL. A child that still runs is
  // nobody's from here on: whoever closes a loop ends its children first.
  void detach() noexcept;

  std::unique_ptr<child_process> spawn(process_spec spec, process_events& events) override;
  containment_tier containment() const noexcept override;
  void kill_leftovers(std::vector<leftover> runs, unique_function<void(int killed, int left)> done) override;

  process_statistics statistics() const noexcept;

 private:
  class home_side;
  std::shared_ptr<home_side> home_;
};

}  // namespace looptask
