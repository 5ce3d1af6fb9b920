#pragma once
// Readiness by epoll, level-triggered, with waits of nanosecond precision: epoll_pwait2, or where the kernel lacks it a timerfd
// in the same epoll set, which costs one system call more for each new deadline.
//
// Owner: the loop's thread; wake() from anywhere. Invariant: an event is delivered only to the watch it was collected for, by
// a number that differs for each watch, so a descriptor closed and opened again within one batch gets no stale event.
#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include <looptask/host.hpp>

#include "host/descriptor.hpp"

namespace looptask {

enum class precise_wait : std::uint8_t { epoll_pwait2, timerfd };

class epoll_reactor final : public reactor_port {
 public:
  explicit epoll_reactor(const clock_port& clock, precise_wait how = precise_wait::epoll_pwait2);
  ~epoll_reactor() = default;

  void watch(int fd, readiness wanted, readiness_handler& handler) override;
  void rewatch(int fd, readiness wanted) override;
  void unwatch(int fd) noexcept override;
  bool wait(std::optional<monotonic_time> until) override;
  void wake() noexcept override;
  int native_fd() const noexcept override { return epoll_.get(); }

  precise_wait how() const noexcept { return how_; }

 private:
  struct watched {
    readiness_handler* handler = nullptr;
    std::uint32_t number = 0;
    readiness wanted = readiness::none;
  };

  void control(int operation, int fd, readiness wanted, std::uint32_t number);
  int wait_for_events(std::optional<monotonic_time> until);
  int wait_with_timerfd(std::optional<monotonic_time> until);
  bool dispatch(const epoll_event& event);

  const clock_port& clock_;
  precise_wait how_;
  descriptor epoll_;
  descriptor wake_;
  descriptor alarm_;                           // of precise_wait::timerfd
  std::optional<monotonic_time> alarm_is_at_;  // what alarm_ is set to
  std::vector<watched> watched_;               // by descriptor
  std::uint32_t last_number_ = 0;
  std::vector<epoll_event> events_;
};

}  // namespace looptask
