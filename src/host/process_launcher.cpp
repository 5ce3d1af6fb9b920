#include "host/process_launcher.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <new>
#include <utility>

#include "host/quiet_thread.hpp"

namespace looptask {
namespace {

launched launch_or_report(const process_spec& spec) {
  try {
    return launch(spec);
  } catch (const std::bad_alloc&) {
    return {ENOMEM, "prepare"};
  }
}

}  // namespace

process_launcher::process_launcher(unsigned long timer_slack, report done)
    : timer_slack_(timer_slack), done_(std::move(done)), thread_(quiet_thread([this] { work(); })) {}

process_launcher::~process_launcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void process_launcher::begin(std::uint64_t ticket, process_spec spec) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({ticket, std::move(spec)});
  }
  changed_.notify_one();
}

bool process_launcher::withdraw(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(waiting_, [ticket](const request& one) { return one.ticket == ticket; }) != 0;
}

std::optional<process_launcher::request> process_launcher::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
  if (stopping_) return std::nullopt;
  request first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

void process_launcher::work() {
  ::prctl(PR_SET_TIMERSLACK, timer_slack_, 0UL, 0UL, 0UL);
  while (std::optional<request> one = next()) done_(one->ticket, launch_or_report(one->spec));
}

}  // namespace looptask
