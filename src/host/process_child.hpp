#pragma once
// One child of the real process port, from the request to the reaping. Owner: the loop's thread.
//
// Three things end on their own: the main process (exited), its output (the pipe is closed), and the killing of its session.
// The child is forgotten when it is reaped and its handle is gone.
//
// From its end until it is reaped, which is when its session is killed or its handle goes, the zombie keeps the pid, and with
// it the name of session and group, from becoming anybody else's. Whatever is still alive in the session by then is searched
// for with the time of the reaping as evidence.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/host.hpp>

#include "host/descriptor.hpp"
#include "host/process_launch.hpp"
#include "host/process_sweep.hpp"

namespace looptask {

class supervised_child;

// What a child needs of the port that keeps it.
class child_keeper {
 public:
  virtual reactor_port& reactor() noexcept = 0;
  virtual const clock_port& clock() const noexcept = 0;
  virtual bool withdraw(std::uint64_t ticket) = 0;       // a launch that has not begun
  virtual void stop(std::uint64_t ticket) noexcept = 0;  // one that has
  virtual void sweep(std::uint64_t ticket, process_sweeper::session which) = 0;
  virtual void later(std::uint64_t ticket, void (supervised_child::*step)()) = 0;  // on the loop, not from inside this call
  virtual std::chrono::milliseconds time_to_kill() const noexcept = 0;
  virtual void remind(std::uint64_t ticket, std::uint32_t sweep) = 0;  // on_overdue(`sweep`), when a shim should be done
  virtual void forget(std::uint64_t ticket) noexcept = 0;

 protected:
  ~child_keeper() = default;
};

class supervised_child final : public std::enable_shared_from_this<supervised_child> {
 public:
  struct nature {
    std::string mark;  // the variable of its environment ("NAME=value") that nobody else's processes have, or nothing
    containment_tier tier = containment_tier::session;
    bool ends_with_us = false;
  };
  supervised_child(child_keeper& keeper, std::uint64_t ticket, process_events& events, nature what)
      : keeper_(&keeper), events_(&events), ticket_(ticket), nature_(std::move(what)) {}
  supervised_child(const supervised_child&) = delete;
  supervised_child& operator=(const supervised_child&) = delete;

  // Called by the handle.
  void signal_group(int signal) noexcept;
  void hold_output(bool hold);
  void kill_session(unique_function<void(int killed, int left)> done);
  void release() noexcept;  // the handle is gone: no more calls
  containment_tier tier() const noexcept { return nature_.tier; }

  // Called by the port.
  void on_launched(launched child, const std::string& boot_id);
  void on_swept(int killed, int left);
  void on_withdrawn();
  void on_nothing_left() { on_swept(0, 0); }
  void on_overdue(std::uint32_t sweep);
  // Waits up to `until` for the end of what has been killed.
  void detach(monotonic_time until) noexcept;
  bool is_running() const noexcept { return stage_ == stage::running || stage_ == stage::ended; }
  bool is_launching() const noexcept { return stage_ == stage::launching; }

 private:
  enum class stage : std::uint8_t { launching, running, ended, reaped };

  // Readiness of the descriptors comes in through these.
  struct exit_watch final : readiness_handler {
    explicit exit_watch(supervised_child& owner) : child(owner) {}
    void on_ready(readiness) override;
    supervised_child& child;
  };
  struct shim_watch final : readiness_handler {
    explicit shim_watch(supervised_child& owner) : child(owner) {}
    void on_ready(readiness) override;
    supervised_child& child;
  };
  struct output_watch final : readiness_handler {
    explicit output_watch(supervised_child& owner) : child(owner) {}
    void on_ready(readiness) override;
    supervised_child& child;
  };

  void fail(int error, std::string_view what);
  void watch(descriptor output);
  void begin_sweep();
  void begin_session_sweep();
  void hear_shim();
  void on_shim_end();
  void notice_exit();
  void tell_exit(const process_exit& how, stage next);
  void read_output();
  void close_output() noexcept;
  void stop_watching_exit() noexcept;
  void leave_shim(monotonic_time until) noexcept;
  void reap() noexcept;
  void forget_if_done() noexcept;

  child_keeper* keeper_;    // nullptr: the port is detached
  process_events* events_;  // nullptr: the handle is gone
  const std::uint64_t ticket_;
  nature nature_;
  stage stage_ = stage::launching;
  bool sweeping_ = false;
  bool all_gone_ = false;  // its shim has said so
  bool foreign_ = false;   // its shim was killed: not ours to reap
  bool output_held_ = false;
  bool watching_exit_ = false;
  bool kill_sent_ = false;    // to its whole group
  std::uint32_t sweeps_ = 0;  // by the shim, begun
  int killed_by_shim_ = 0;
  duration reaped_at_{};  // boot clock; the pid was ours until then
  process_identity who_;
  descriptor pidfd_;
  descriptor output_;
  shim_line shim_;            // none: the child is ours
  std::vector<int> signals_;  // asked for before there was a process
  std::vector<unique_function<void(int killed, int left)>> killed_;
  exit_watch exit_watch_{*this};
  shim_watch shim_watch_{*this};
  output_watch output_watch_{*this};
};

}  // namespace looptask
