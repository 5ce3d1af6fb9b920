#pragma once
// CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_REALTIME, and a timerfd that tells when the last one is set.
//
// Owner: the loop's thread; the three readings from any thread.
#include <string>

#include <looptask/host.hpp>

#include "host/descriptor.hpp"

namespace looptask {

class system_clock final : public clock_port, private readiness_handler {
 public:
  ~system_clock() = default;

  void use(reactor_port& reactor) noexcept { reactor_ = &reactor; }  // before on_wall_step
  void stop() noexcept;                                              // no wall step is reported any more

  monotonic_time monotonic() const noexcept override;
  duration boot() const noexcept override;
  instant wall() const noexcept override;
  std::string boot_id() const override;
  void on_wall_step(unique_function<void()> handler) override;

 private:
  void on_ready(readiness) override;
  void call();

  reactor_port* reactor_ = nullptr;
  descriptor step_alarm_;
  unique_function<void()> on_step_;
  bool replaced_ = false;  // on_step_ was set or dropped since the call of it began
};

}  // namespace looptask
