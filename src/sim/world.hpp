#pragma once
// A deterministic world in virtual time: a `host` on which the same loop, engine and service run as on Linux, only that nothing
// is waited for. When a loop has nothing to do, the reactor's wait() moves the time to the next event or to the loop's
// deadline, whichever is first. The same seed and the same calls give the same trace.
//
// Time starts at 0 and is given as time since then. Clocks: monotonic and boot clock count from the last (re)boot, so at first
// they show the virtual time; the wall clock shows wall0 + virtual time + all jumps so far.
//
// Order within one instant: steps of the wall clock, then everything else in the order it was planned (process events in the
// order of their spawn), then a crash, then what the loop has armed for that instant. What is planned for an instant while it
// is being delivered comes with the next wait() at the same instant.
//
// One life after another: a loop attaches itself, runs, and is destroyed (which detaches it); virtual processes, files, clocks
// and plans stay; pass_until() lets time go by; the next loop attaches.
//
// Owner: one thread, also that of every loop attached; only reactor().wake() may be called from others.
// Failure: wait() throws deadlock, crash, end_of_time or unhandled_signal, each a host_failure: it leaves loop::run(), and the
// loop is then destroyed. No descriptor can be watched (EBADF), since there is none,
// and no network used (ENOTSUP).
//
//   sim::world world(seed);
//   world.program("true", {.takes = 10ms});
//   world.wall_jump(5s, -1h);
//   looptask::loop loop(world);
//   loop.run();
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/host.hpp>

#include "sim/agenda.hpp"
#include "sim/files.hpp"
#include "sim/processes.hpp"
#include "sim/program.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"
#include "sim/workers.hpp"

namespace looptask::sim {

// The loop waits without a deadline, and nothing will ever happen.
class deadlock : public host_failure {
  using host_failure::host_failure;
};
// crash_at(): the service is to die now. Destroy it; its processes live on.
class crash : public host_failure {
  using host_failure::host_failure;
};
// end_at(): the simulation is over.
class end_of_time : public host_failure {
  using host_failure::host_failure;
};
// raise() of a signal that nobody watches and that would end a real process.
class unhandled_signal : public host_failure {
  using host_failure::host_failure;
};

struct statistics {
  std::uint64_t waits = 0;
  std::uint64_t events = 0;  // delivered or let pass
  std::uint64_t spawned = 0;
};

// 2025-01-01T00:00:00Z.
inline constexpr instant default_wall0{std::chrono::seconds(1735689600)};

class world final : public host, private clock_port, private reactor_port {
 public:
  explicit world(std::uint64_t seed, instant wall0 = default_wall0);
  ~world() override;
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  // What will happen. `at` is virtual time, not before now().
  void wall_jump(duration at, microseconds delta);
  // How long it takes from now on until the leftovers of an earlier life are found and killed. Without it: no time.
  void search_takes(duration time) noexcept { search_takes_ = time; }
  // The loop does nothing in [at, until): no wait() returns there; processes go on and are reported at `until`.
  void stall(duration at, duration until);
  void raise(duration at, int signal);  // a signal to the service
  void call_at(duration at, unique_function<void()> work);
  // The wait() that reaches `at` reports the events of that instant, then throws crash: ends of that instant count, timers of
  // it never fire.
  void crash_at(duration at);
  void end_at(duration at);  // the wait() that would reach `at` throws end_of_time, before any event of that instant

  // Without a loop: time goes by up to `until`, its events included.
  void pass_until(duration until);
  // Without a loop: every process ends, the boot id changes, monotonic and boot clock start at 0.
  void reboot();

  // What argv[0] does, and what all other programs do (without a default they cannot be found: ENOENT). The decision is made
  // at each spawn. A virtual process does not look at the file system or at workdir.
  void program(std::string name, sim::program what);
  void program(std::string name, spawn_decision decide) { processes_.install(std::move(name), std::move(decide)); }
  void default_program(spawn_decision decide) { processes_.install_default(std::move(decide)); }

  duration now() const noexcept { return now_; }
  instant wall_now() const noexcept { return wall(); }
  // The monotonic clock's reading at a virtual time of this boot.
  monotonic_time reading_at(duration at) const noexcept { return monotonic_time(at - booted_at_); }
  std::vector<living_process> alive() const { return processes_.alive(); }  // by pid

  sim::trace& trace() noexcept { return trace_; }  // callers may record what they saw

  sim::statistics statistics() const noexcept;

  // host
  void attach(inbox& home) override;
  void detach() noexcept override;
  clock_port& clock() noexcept override { return *this; }
  reactor_port& reactor() noexcept override { return *this; }
  signal_port& signals() noexcept override { return signals_; }
  process_port& processes() noexcept override { return processes_; }
  random_port& random() noexcept override { return random_; }
  file_port& files() noexcept override { return files_; }
  worker_port& workers() noexcept override { return workers_; }
  network_port& network() override;  // ENOTSUP

 private:
  friend class virtual_processes;

  monotonic_time monotonic() const noexcept override { return reading_at(now_); }
  duration boot() const noexcept override { return now_ - booted_at_; }
  instant wall() const noexcept override;
  std::string boot_id() const override;
  void on_wall_step(unique_function<void()> handler) override;

  void watch(int fd, readiness wanted, readiness_handler& handler) override;
  void rewatch(int fd, readiness wanted) override;
  void unwatch(int fd) noexcept override;
  bool wait(std::optional<monotonic_time> until) override;
  void wake() noexcept override { woken_.store(true, std::memory_order_release); }
  int native_fd() const noexcept override { return -1; }

  class signal_table final : public signal_port {
   public:
    void watch(int signal, unique_function<void(int)> handler) override;
    void unwatch(int signal) noexcept override { handlers.erase(signal); }
    std::map<int, std::shared_ptr<unique_function<void(int)>>> handlers;
  };

  void check_future(duration at) const;
  duration next_instant(std::optional<duration> deadline) const;
  duration after_stalls(duration at) const;
  void move_to(duration at);
  void deliver_signal(int signal);

  const std::uint64_t seed_;
  const instant wall0_;
  duration now_{0};
  duration booted_at_{0};
  std::uint32_t boots_ = 1;
  microseconds wall_offset_{0};
  std::multimap<duration, microseconds> jumps_;  // those to come
  std::map<duration, duration> stalls_;          // [first, second), those not yet over
  std::set<duration> crashes_;
  std::optional<duration> end_;
  duration search_takes_{0};

  inbox* home_ = nullptr;
  std::atomic<bool> woken_{false};
  std::shared_ptr<unique_function<void()>> wall_step_;
  signal_table signals_;

  agenda agenda_;
  sim::trace trace_;
  seeded_random random_;
  seeded_random chance_;  // what the world itself leaves to chance; apart, so that it does not depend on the program's draws
  memory_files files_;
  virtual_processes processes_;
  virtual_workers workers_;
  std::uint64_t waits_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace looptask::sim
