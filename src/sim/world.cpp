#include "sim/world.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

namespace looptask::sim {
namespace {

std::string when(duration at) {
  const auto count = at.count();
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%09lld s", static_cast<long long>(count / 1'000'000'000),
                static_cast<long long>(count % 1'000'000'000));
  return text;
}

bool ignored_by_default(int signal) { return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH; }

}  // namespace

world::world(std::uint64_t seed, instant wall0)
    : seed_(seed),
      wall0_(wall0),
      random_(seed),
      chance_(~seed),
      processes_(*this),
      workers_(agenda_, seed ^ 0x776f726b657273U, now_, *this) {}

world::~world() { LOOPTASK_ASSERT(home_ == nullptr, "a loop outlives its world"); }

void world::check_future(duration at) const { LOOPTASK_ASSERT(at >= now_, "planned for a time that has passed"); }

void world::wall_jump(duration at, microseconds delta) {
  check_future(at);
  jumps_.emplace(at, delta);
  agenda_.add(at, rank::wall_step, [this, delta] {
    trace_.record(now_, "wall-jump", delta.count());
    if (const auto handler = wall_step_) (*handler)();
  });
  if (at == now_) move_to(now_);
}

void world::stall(duration at, duration until) {
  check_future(at);
  LOOPTASK_ASSERT(at < until, "a stall ends after it begins");
  duration& end = stalls_[at];
  end = std::max(end, until);
}

void world::raise(duration at, int signal) {
  check_future(at);
  agenda_.add(at, rank::ordinary, [this, signal] { deliver_signal(signal); });
}

void world::deliver_signal(int signal) {
  trace_.record(now_, "signal", signal);
  const auto found = signals_.handlers.find(signal);
  if (found != signals_.handlers.end()) {
    const auto handler = found->second;  // it may unwatch itself
    (*handler)(signal);
    return;
  }
  if (home_ == nullptr || ignored_by_default(signal)) return;  // no service to be hit
  throw unhandled_signal("sim: signal " + std::to_string(signal) + " at " + when(now_) +
                         " ends the service, which does not watch it");
}

void world::call_at(duration at, unique_function<void()> work) {
  check_future(at);
  agenda_.add(at, rank::ordinary, std::move(work));
}

void world::crash_at(duration at) {
  check_future(at);
  crashes_.insert(at);
}

void world::end_at(duration at) {
  LOOPTASK_ASSERT(at > now_, "the end of a simulation lies ahead");
  end_ = at;
}

void world::pass_until(duration until) {
  LOOPTASK_ASSERT(home_ == nullptr, "pass_until: a loop is attached, and it is the one that moves the time");
  check_future(until);
  while (true) {
    const std::optional<duration> next = agenda_.next();
    if (!next || *next > until) break;
    move_to(std::max(now_, *next));
    events_ += agenda_.run_due(now_);
  }
  move_to(until);
  crashes_.erase(crashes_.begin(), crashes_.upper_bound(until));  // nobody was there to crash
}

void world::reboot() {
  LOOPTASK_ASSERT(home_ == nullptr, "reboot: a loop is attached");
  processes_.end_all();
  booted_at_ = now_;
  ++boots_;
  trace_.record(now_, "reboot", boots_);
}

void world::program(std::string name, sim::program what) {
  processes_.install(std::move(name), [what = std::move(what)](const process_spec&) { return what; });
}

sim::statistics world::statistics() const noexcept { return {waits_, events_, processes_.spawned()}; }

void world::attach(inbox& home) {
  LOOPTASK_ASSERT(home_ == nullptr, "a host belongs to one loop at a time");
  home_ = &home;
  workers_.attach(home);
  woken_.store(false, std::memory_order_relaxed);
  trace_.record(now_, "attach");
}

void world::detach() noexcept {
  workers_.detach();
  home_ = nullptr;
  wall_step_.reset();
  signals_.handlers.clear();
  processes_.detach();
}

instant world::wall() const noexcept { return wall0_ + std::chrono::floor<microseconds>(now_) + wall_offset_; }

std::string world::boot_id() const {
  char text[40];
  std::snprintf(text, sizeof text, "%08x-0000-4000-8000-%012llx", boots_,
                static_cast<unsigned long long>(seed_ & 0xffffffffffffU));
  return text;
}

void world::on_wall_step(unique_function<void()> handler) {
  wall_step_ = handler ? std::make_shared<unique_function<void()>>(std::move(handler)) : nullptr;
}

void world::watch(int fd, readiness, readiness_handler&) {
  throw std::system_error(EBADF, std::generic_category(), "sim: watch of descriptor " + std::to_string(fd));
}

void world::rewatch(int fd, readiness) {
  throw std::system_error(EBADF, std::generic_category(), "sim: rewatch of descriptor " + std::to_string(fd));
}

void world::unwatch(int) noexcept { LOOPTASK_ASSERT(false, "unwatch of a descriptor that was never watched"); }

network_port& world::network() {
  throw std::system_error(ENOTSUP, std::generic_category(), "sim: the simulated world has no network");
}

// The earliest time at which there is something to do.
duration world::next_instant(std::optional<duration> deadline) const {
  std::optional<duration> next = deadline;
  const auto consider = [&next](std::optional<duration> other) {
    if (other && (!next || *other < *next)) next = other;
  };
  consider(agenda_.next());
  consider(end_);
  if (!crashes_.empty()) consider(*crashes_.begin());
  if (!next) {
    throw deadlock("sim: deadlock at " + when(now_) + ": the loop waits without a deadline and nothing is pending (" +
                   std::to_string(processes_.alive().size()) + " processes that never end)");
  }
  return std::max(now_, *next);
}

// The first time from `at` on at which the loop is not stalled. A crash and the end of the simulation come also to a stalled
// one.
duration world::after_stalls(duration at) const {
  duration free = at;
  for (const auto& [from, until] : stalls_) {
    if (from > free) break;
    free = std::max(free, until);
  }
  if (!crashes_.empty()) free = std::min(free, std::max(at, *crashes_.begin()));
  if (end_) free = std::min(free, std::max(at, *end_));
  return free;
}

void world::move_to(duration at) {
  now_ = at;
  while (!jumps_.empty() && jumps_.begin()->first <= now_) {
    wall_offset_ += jumps_.begin()->second;
    jumps_.erase(jumps_.begin());
  }
  while (!stalls_.empty() && stalls_.begin()->second <= now_) stalls_.erase(stalls_.begin());
}

bool world::wait(std::optional<monotonic_time> until) {
  LOOPTASK_ASSERT(home_ != nullptr, "wait on a world to which no loop is attached");
  ++waits_;
  std::optional<duration> deadline;
  if (until) deadline = until->time_since_epoch() + booted_at_;
  const bool poll = woken_.exchange(false, std::memory_order_acquire);
  const duration target = after_stalls(poll ? now_ : next_instant(deadline));
  if (end_ && target >= *end_) throw end_of_time("sim: the simulation ends at " + when(*end_));
  if (target != now_) {
    move_to(target);
    trace_.record(now_, "time");
  }
  const std::uint64_t ran = agenda_.run_due(now_);
  events_ += ran;
  if (!crashes_.empty() && *crashes_.begin() <= now_) {
    crashes_.erase(crashes_.begin());
    trace_.record(now_, "crash");
    workers_.crash();
    throw crash("sim: the service crashes at " + when(now_));
  }
  return ran != 0;
}

void world::signal_table::watch(int signal, unique_function<void(int)> handler) {
  LOOPTASK_ASSERT(!handlers.contains(signal), "a signal has one owner");
  handlers[signal] = std::make_shared<unique_function<void(int)>>(std::move(handler));
}

}  // namespace looptask::sim
