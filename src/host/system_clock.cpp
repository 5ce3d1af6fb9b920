#include "host/system_clock.hpp"

#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <limits>
#include <utility>

#include "host/system_call.hpp"

namespace looptask {
namespace {

duration reading(clockid_t which) noexcept {
  timespec t{};
  ::clock_gettime(which, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

// The alarm never rings: it is far ahead. Setting the clock cancels it, which makes it readable.
void wait_for_step(const descriptor& alarm) {
  itimerspec far{};
  far.it_value.tv_sec = std::numeric_limits<std::int32_t>::max() * std::int64_t{4};
  const int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  if (::timerfd_settime(alarm.get(), flags, &far, nullptr) != 0 && errno != ECANCELED) throw_errno("timerfd_settime");
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
  const ssize_t size = read_some(file.get(), text.data(), text.size());
  if (size < 0) throw_errno(path);
  if (size == 0) throw std::runtime_error(std::string(path) + " is empty");
  std::string id(text.data(), static_cast<std::size_t>(size));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

void system_clock::on_wall_step(unique_function<void()> handler) {
  LOOPTASK_ASSERT(reactor_ != nullptr, "on_wall_step before a loop is attached");
  const bool had = static_cast<bool>(step_alarm_);
  const bool wanted = static_cast<bool>(handler);
  if (wanted && !had) {
    descriptor alarm(checked(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"));
    wait_for_step(alarm);
    reactor_->watch(alarm.get(), readiness::read, *this);
    step_alarm_ = std::move(alarm);
  } else if (!wanted && had) {
    stop();
  }
  on_step_ = std::move(handler);
  replaced_ = true;
}

void system_clock::on_ready(readiness) {
  std::uint64_t expirations = 0;
  const bool stepped = ::read(step_alarm_.get(), &expirations, sizeof expirations) < 0 && errno == ECANCELED;
  wait_for_step(step_alarm_);
  if (stepped) call();
}

// The handler may give itself up, or put another in its place: it must outlive its call.
void system_clock::call() {
  replaced_ = false;
  struct in_use {
    system_clock& clock;
    unique_function<void()> handler;
    ~in_use() {
      if (!clock.replaced_) clock.on_step_ = std::move(handler);
    }
  } called{*this, std::move(on_step_)};
  called.handler();
}

void system_clock::stop() noexcept {
  if (!step_alarm_) return;
  reactor_->unwatch(step_alarm_.get());
  step_alarm_ = {};
  on_step_ = nullptr;
  replaced_ = true;
}

}  // namespace looptask
