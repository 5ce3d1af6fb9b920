#include "host/epoll_reactor.hpp"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "host/system_call.hpp"

namespace looptask {
namespace {

constexpr std::uint32_t no_number = 0;  // of our own descriptors, which have no handler

constexpr std::uint32_t events_of(readiness wanted) noexcept {
  const auto bits = static_cast<unsigned>(wanted);
  return ((bits & static_cast<unsigned>(readiness::read)) != 0 ? std::uint32_t{EPOLLIN | EPOLLRDHUP} : 0U) |
         ((bits & static_cast<unsigned>(readiness::write)) != 0 ? std::uint32_t{EPOLLOUT} : 0U);
}

epoll_event event_for(std::uint32_t events, int fd, std::uint32_t number) noexcept {
  epoll_event e{};
  e.events = events;
  e.data.u64 = std::uint64_t{number} << 32U | static_cast<std::uint32_t>(fd);
  return e;
}

timespec timespec_of(duration d) noexcept {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(d);
  timespec t{};
  t.tv_sec = static_cast<time_t>(whole.count());
  t.tv_nsec = static_cast<long>((d - whole).count());
  return t;
}

void add_own(int epoll, int fd) {
  epoll_event e = event_for(EPOLLIN | EPOLLET, fd, no_number);  // each new signal is a new edge: it need not be read
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0) throw_errno("epoll_ctl");
}

[[noreturn]] void fail(const char* what) {
  throw host_failure(std::system_category().message(errno).insert(0, ": ").insert(0, what));
}

}  // namespace

epoll_reactor::epoll_reactor(const clock_port& clock, precise_wait how)
    : clock_(clock),
      how_(how),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      events_(256) {
  add_own(epoll_.get(), wake_.get());
}

void epoll_reactor::control(int operation, int fd, readiness wanted, std::uint32_t number) {
  epoll_event e = event_for(events_of(wanted), fd, number);
  if (::epoll_ctl(epoll_.get(), operation, fd, &e) != 0) throw_errno("epoll_ctl of descriptor " + std::to_string(fd));
}

void epoll_reactor::watch(int fd, readiness wanted, readiness_handler& handler) {
  LOOPTASK_ASSERT(fd >= 0, "watch of a negative descriptor");
  const auto index = static_cast<std::size_t>(fd);
  if (index >= watched_.size()) watched_.resize(std::max(index + 1, 2 * watched_.size()));
  watched& w = watched_[index];
  LOOPTASK_ASSERT(w.handler == nullptr, "descriptor is watched already");
  if (++last_number_ == no_number) ++last_number_;
  if (wanted != readiness::none) control(EPOLL_CTL_ADD, fd, wanted, last_number_);
  w = {&handler, last_number_, wanted};
}

void epoll_reactor::rewatch(int fd, readiness wanted) {
  const auto index = static_cast<std::size_t>(fd);
  LOOPTASK_ASSERT(fd >= 0 && index < watched_.size() && watched_[index].handler != nullptr, "rewatch of what is not watched");
  watched& w = watched_[index];
  if (w.wanted == wanted) return;
  // With no interest it leaves the set: epoll would go on reporting a hang-up.
  const int operation = wanted == readiness::none ? EPOLL_CTL_DEL : w.wanted == readiness::none ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  control(operation, fd, wanted, w.number);
  w.wanted = wanted;
}

void epoll_reactor::unwatch(int fd) noexcept {
  const auto index = static_cast<std::size_t>(fd);
  LOOPTASK_ASSERT(fd >= 0 && index < watched_.size() && watched_[index].handler != nullptr, "unwatch of what is not watched");
  if (watched_[index].wanted != readiness::none) {
    const int gone = ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    LOOPTASK_ASSERT(gone == 0, "descriptor was closed before unwatch");
  }
  watched_[index] = {};
}

void epoll_reactor::wake() noexcept {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the loop has been woken often enough.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

bool epoll_reactor::wait(std::optional<monotonic_time> until) {
  const int count = wait_for_events(until);
  bool called = false;
  for (int i = 0; i < count; ++i) called = dispatch(events_[static_cast<std::size_t>(i)]) || called;
  return called;
}

bool epoll_reactor::dispatch(const epoll_event& event) {
  const auto number = static_cast<std::uint32_t>(event.data.u64 >> 32U);
  if (number == no_number) return false;
  const watched& w = watched_[event.data.u64 & 0xffffffffU];
  if (w.number != number || w.handler == nullptr) return false;  // unwatched by a handler of this batch
  const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
  unsigned ready = 0;
  if (broken || (event.events & (EPOLLIN | EPOLLRDHUP)) != 0) ready |= static_cast<unsigned>(readiness::read);
  if (broken || (event.events & EPOLLOUT) != 0) ready |= static_cast<unsigned>(readiness::write);
  ready &= static_cast<unsigned>(w.wanted);  // a handler of this batch may have changed it
  if (ready == 0) return false;
  w.handler->on_ready(static_cast<readiness>(ready));
  return true;
}

// The number of events; an interruption by a signal counts as none.
int epoll_reactor::wait_for_events(std::optional<monotonic_time> until) {
  const int room = static_cast<int>(events_.size());
  int count = -1;
  const bool look_only = until && *until <= monotonic_time{};  // needs no reading of the clock
  const duration left = look_only ? duration::zero() : until ? *until - clock_.monotonic() : duration::max();
  if (left <= duration::zero()) {
    count = ::epoll_wait(epoll_.get(), events_.data(), room, 0);
  } else if (how_ == precise_wait::timerfd) {
    return wait_with_timerfd(until);
  } else {
    const timespec timeout = timespec_of(left);
    count = ::epoll_pwait2(epoll_.get(), events_.data(), room, until ? &timeout : nullptr, nullptr);
    if (count < 0 && (errno == ENOSYS || errno == EPERM)) {  // before Linux 5.11; or refused by an older container's filter
      how_ = precise_wait::timerfd;
      return wait_with_timerfd(until);
    }
  }
  if (count < 0 && errno != EINTR) fail("epoll_wait");
  return std::max(count, 0);
}

int epoll_reactor::wait_with_timerfd(std::optional<monotonic_time> until) {
  if (!alarm_) {
    alarm_ = descriptor(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"));
    add_own(epoll_.get(), alarm_.get());
  }
  if (until && until != alarm_is_at_) {
    itimerspec at{};
    at.it_value = timespec_of(until->time_since_epoch());
    if (::timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &at, nullptr) != 0) fail("timerfd_settime");
    alarm_is_at_ = until;
  }
  const int count = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), -1);
  if (count < 0 && errno != EINTR) fail("epoll_wait");
  return std::max(count, 0);
}

}  // namespace looptask
