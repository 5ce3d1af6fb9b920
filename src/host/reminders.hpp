#pragma once
// Calls on the loop's thread a fixed time after they were asked for, for ports, which have no timers of the loop. Owner: the
// loop's thread. One descriptor for all of them, opened by begin(); calls come in the order asked for.
//
//   reminders later(reactor, 6s, [](std::uint64_t ticket, std::uint32_t number) { ... });
//   later.begin();
//   later.add(7, 1);
#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>

#include <looptask/function.hpp>
#include <looptask/host.hpp>

#include "host/descriptor.hpp"

namespace looptask {

class reminders final : readiness_handler {
 public:
  using call = unique_function<void(std::uint64_t ticket, std::uint32_t number)>;

  reminders(reactor_port& reactor, const clock_port& clock, duration delay, call what)
      : reactor_(reactor), clock_(clock), delay_(delay), call_(std::move(what)) {}
  ~reminders() { end(); }
  reminders(const reminders&) = delete;
  reminders& operator=(const reminders&) = delete;

  void begin();         // before the first add(); again: nothing. std::system_error
  void end() noexcept;  // no call from here on
  void add(std::uint64_t ticket, std::uint32_t number);

 private:
  struct entry {
    monotonic_time at;
    std::uint64_t ticket;
    std::uint32_t number;
  };
  void on_ready(readiness) override;
  void set_alarm() noexcept;

  reactor_port& reactor_;
  const clock_port& clock_;
  const duration delay_;
  call call_;
  std::deque<entry> waiting_;
  descriptor alarm_;
};

}  // namespace looptask
