#include "host/reminders.hpp"

#include <sys/timerfd.h>

#include <algorithm>
#include <utility>

#include "host/system_call.hpp"

namespace looptask {

void reminders::begin() {
  if (alarm_) return;
  descriptor made(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"));
  reactor_.watch(made.get(), readiness::read, *this);
  alarm_ = std::move(made);
}

void reminders::end() noexcept {
  if (alarm_) reactor_.unwatch(alarm_.get());
  alarm_.reset();
  waiting_.clear();
}

void reminders::add(std::uint64_t ticket, std::uint32_t number) {
  waiting_.push_back({clock_.monotonic() + delay_, ticket, number});
  if (waiting_.size() == 1) set_alarm();
}

void reminders::on_ready(readiness) {
  std::uint64_t unused = 0;
  read_some(alarm_.get(), &unused, sizeof unused);
  while (alarm_ && !waiting_.empty() && waiting_.front().at <= clock_.monotonic()) {
    const entry due = waiting_.front();
    waiting_.pop_front();
    call_(due.ticket, due.number);
  }
  if (alarm_ && !waiting_.empty()) set_alarm();
}

// Relative, and never zero, which would disarm it.
void reminders::set_alarm() noexcept {
  const duration left = std::max(waiting_.front().at - clock_.monotonic(), duration(1));
  const auto whole = std::chrono::floor<std::chrono::seconds>(left);
  itimerspec when{};
  when.it_value.tv_sec = whole.count();
  when.it_value.tv_nsec = (left - whole).count();
  ::timerfd_settime(alarm_.get(), 0, &when, nullptr);
}

}  // namespace looptask
