#include "host/system_clock.hpp"

#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <limits>

#include "host/system_call.hpp"

namespace looptask {
namespace {

duration reading(clockid_t which) noexcept {
  timespec t{};
  ::clock_gettime(which, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

monotonic_time system_clock::monotonic() const noexcept { return monotonic_time(reading(CLOCK_MONOTONIC)); }
duration system_clock::boot() const noexcept { return reading(CLOCK_BOOTTIME); }
instant system_clock::wall() const noexcept {
  return std::chrono::floor<microseconds>(std::chrono::sys_time<duration>(reading(CLOCK_REALTIME)));
}

std::string system_clock::boot_id() const {
  const char* const path = "/proc/sys/kernel/random/boot_id";
  const descriptor file(checked(::open(path, O_RDONLY | O_CLOEXEC), path));
  std::array<char, 64> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size <= 0) throw_errno(path);
  std::string id(text.data(), static_cast<std::size_t>(size));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

void system_clock::on_wall_step(unique_function<void()> handler) {
  LOOPTASK_ASSERT(reactor_ != nullptr, "on_wall_step before a loop is attached");
  const bool had = static_cast<bool>(on_step_);
  const bool wanted = static_cast<bool>(handler);
  if (wanted && !had) {
    step_alarm_ = descriptor(checked(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"));
    wait_for_step();
    reactor_->watch(step_alarm_.get(), readiness::read, *this);
  } else if (!wanted && had) {
    stop();
  }
  on_step_ = std::move(handler);
}

// The alarm never rings: it is far ahead. Setting the clock cancels it, which makes it readable.
void system_clock::wait_for_step() {
  itimerspec far{};
  far.it_value.tv_sec = std::numeric_limits<std::int32_t>::max() * std::int64_t{4};
  const int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  if (::timerfd_settime(step_alarm_.get(), flags, &far, nullptr) != 0 && errno != ECANCELED) throw_errno("timerfd_settime");
}

void system_clock::on_ready(readiness) {
  std::uint64_t expirations = 0;
  const bool stepped = ::read(step_alarm_.get(), &expirations, sizeof expirations) < 0 && errno == ECANCELED;
  wait_for_step();
  if (stepped && on_step_) on_step_();
}

void system_clock::stop() noexcept {
  if (!step_alarm_) return;
  reactor_->unwatch(step_alarm_.get());
  step_alarm_ = {};
  on_step_ = nullptr;
}

}  // namespace looptask
