#pragma once
// A world in which computing takes time: the time of sim::world moves only while the loop waits, here also when a callback says
// how long it has computed. It remembers when the loop asked for events. Owner: the loop's thread.
//
//   computing_world host;
//   looptask::loop loop(host);
//   loop.call_soon([&] { host.compute(5ms); });
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <looptask/host.hpp>

#include "sim/world.hpp"

namespace looptask {

class computing_world final : public host, private clock_port, private reactor_port {
 public:
  void compute(duration how_long) noexcept { computed_ += how_long; }
  monotonic_time now() const noexcept { return monotonic_time(world_.now() + computed_); }
  const std::vector<monotonic_time>& polls() const noexcept { return polls_; }
  void raise_at_once(int signal) { world_.raise(world_.now(), signal); }

  void attach(inbox& home) override { world_.attach(home); }
  void detach() noexcept override { world_.detach(); }
  clock_port& clock() noexcept override { return *this; }
  reactor_port& reactor() noexcept override { return *this; }
  signal_port& signals() noexcept override { return world_.signals(); }
  process_port& processes() noexcept override { return world_.processes(); }
  random_port& random() noexcept override { return world_.random(); }
  file_port& files() noexcept override { return world_.files(); }
  worker_port& workers() noexcept override { return world_.workers(); }
  network_port& network() override { return world_.network(); }

 private:
  monotonic_time monotonic() const noexcept override { return now(); }
  duration boot() const noexcept override { return now().time_since_epoch(); }
  instant wall() const noexcept override { return world_.wall_now() + std::chrono::floor<microseconds>(computed_); }
  std::string boot_id() const override { return "computing"; }
  void on_wall_step(unique_function<void()> handler) override { world_.clock().on_wall_step(std::move(handler)); }

  void watch(int fd, readiness wanted, readiness_handler& handler) override { world_.reactor().watch(fd, wanted, handler); }
  void rewatch(int fd, readiness wanted) override { world_.reactor().rewatch(fd, wanted); }
  void unwatch(int fd) noexcept override { world_.reactor().unwatch(fd); }
  bool wait(std::optional<monotonic_time> until) override {
    polls_.push_back(now());
    return world_.reactor().wait(until ? std::optional(*until - computed_) : std::nullopt);
  }
  void wake() noexcept override { world_.reactor().wake(); }
  int native_fd() const noexcept override { return -1; }

  sim::world world_{1};
  duration computed_{0};
  std::vector<monotonic_time> polls_;
};

}  // namespace looptask
