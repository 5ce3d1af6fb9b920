#include "host/system_signals.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <bit>
#include <string>
#include <thread>

#include "host/system_call.hpp"

namespace looptask {
namespace {

// One owner for each signal number of the process.
std::array<std::atomic<system_signals*>, system_signals::highest + 1> owners;
// Handlers that are running now, on whatever thread: an owner goes only when none can still see it.
std::atomic<int> handling = 0;
static_assert(std::atomic<system_signals*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

}  // namespace

void system_signals::caught(int signal) noexcept {
  const int saved = errno;
  handling.fetch_add(1);
  if (system_signals* const owner = owners[static_cast<std::size_t>(signal)].load()) {
    owner->came_.fetch_or(std::uint64_t{1} << static_cast<unsigned>(signal - 1));
    owner->ring();
  }
  handling.fetch_sub(1);
  errno = saved;
}

void system_signals::watch(int signal, unique_function<void(int)> handler) {
  LOOPTASK_ASSERT(signal >= 1 && signal <= highest, "watch of a signal number that does not exist");
  auto& slot = watched_[static_cast<std::size_t>(signal)];
  LOOPTASK_ASSERT(!slot, "signal is watched already");
  if (!bell_) {
    bell_ = descriptor(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"));
    reactor_.watch(bell_.get(), readiness::read, *this);
  }
  system_signals* nobody = nullptr;
  LOOPTASK_ASSERT(owners[static_cast<std::size_t>(signal)].compare_exchange_strong(nobody, this),
                  "signal is watched by another host of this process");
  slot.emplace(std::move(handler));
  ++count_;
  struct sigaction action {};
  action.sa_handler = &system_signals::caught;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  if (::sigaction(signal, &action, &slot->before) != 0) {
    const std::string what = "sigaction of signal " + std::to_string(signal);
    owners[static_cast<std::size_t>(signal)] = nullptr;
    slot.reset();
    --count_;
    throw_errno(what);
  }
}

void system_signals::unwatch(int signal) noexcept {
  LOOPTASK_ASSERT(signal >= 1 && signal <= highest, "unwatch of a signal number that does not exist");
  auto& slot = watched_[static_cast<std::size_t>(signal)];
  if (!slot) return;
  ::sigaction(signal, &slot->before, nullptr);
  owners[static_cast<std::size_t>(signal)] = nullptr;
  while (handling.load() != 0) std::this_thread::yield();
  came_.fetch_and(~(std::uint64_t{1} << static_cast<unsigned>(signal - 1)));
  slot.reset();
  if (--count_ > 0) return;
  reactor_.unwatch(bell_.get());
  bell_ = {};
}

void system_signals::stop() noexcept {
  for (int signal = 1; signal <= highest; ++signal) unwatch(signal);
}

void system_signals::ring() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell_.get(), &one, sizeof one);
}

void system_signals::on_ready(readiness) {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t size = ::read(bell_.get(), &rings, sizeof rings);
  std::uint64_t came = came_.exchange(0);
  while (came != 0) {
    const int signal = std::countr_zero(came) + 1;
    came &= came - 1;
    if (!watched_[static_cast<std::size_t>(signal)]) continue;  // unwatched by a handler of this batch
    try {
      call(signal);
    } catch (...) {  // goes to the loop's error handler; the other signals come with the next poll
      came_.fetch_or(came);
      if (came != 0 && bell_) ring();
      throw;
    }
  }
}

// The handler may unwatch its own signal, or watch it anew: it must outlive its call.
void system_signals::call(int signal) {
  auto& slot = watched_[static_cast<std::size_t>(signal)];
  struct in_use {
    std::optional<watched>& slot;
    unique_function<void(int)> handler;
    ~in_use() {
      if (slot && !slot->handler) slot->handler = std::move(handler);
    }
  } called{slot, std::move(slot->handler)};
  called.handler(signal);
}

}  // namespace looptask
