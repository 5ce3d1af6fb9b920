#include "host/process_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include "host/process_table.hpp"
#include "host/system_call.hpp"

namespace looptask {
namespace {

// One readiness reads at most this much, so that a child that floods does not hold up the turn; the rest is still there in
// the next one.
constexpr std::size_t chunk_size = 64 * 1024;
constexpr int chunks_per_readiness = 4;

constexpr int wait_on_pidfd = 3;  // P_PIDFD, missing from older headers

struct ending {
  int error = 0;  // of waitid
  siginfo_t info{};
  rusage usage{};
};

// The C library's waitid has no rusage.
ending wait_for_exit(int pidfd, int options) noexcept {
  ending how;
  long got = 0;
  do {
    got = ::syscall(SYS_waitid, wait_on_pidfd, pidfd, &how.info, options, &how.usage);
  } while (got != 0 && errno == EINTR);
  if (got != 0) how.error = errno;
  return how;
}

void wait_for_end(int pidfd, const clock_port& clock, monotonic_time until) noexcept {
  pollfd end{pidfd, POLLIN, 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock.monotonic());
    const int ready = ::poll(&end, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return;
  }
}

microseconds to_duration(const timeval& time) { return std::chrono::seconds(time.tv_sec) + microseconds(time.tv_usec); }

// A child that was made with vfork begins with the peak of this process in its own account, and keeps it: only a figure above
// our peak is the child's.
std::int64_t peak_memory(const rusage& child) noexcept {
  rusage ours{};
  ::getrusage(RUSAGE_SELF, &ours);
  return child.ru_maxrss > ours.ru_maxrss ? std::int64_t{child.ru_maxrss} * 1024 : 0;
}

process_exit describe(const ending& how, monotonic_time at) {
  process_exit exit;
  exit.at = at;
  if (how.error != 0) return exit;
  if (how.info.si_code == CLD_EXITED)
    exit.code = how.info.si_status;
  else
    exit.signal = how.info.si_status;
  exit.cpu = to_duration(how.usage.ru_utime) + to_duration(how.usage.ru_stime);
  exit.max_rss = peak_memory(how.usage);
  return exit;
}

process_exit describe(const shim_protocol::report& how, monotonic_time at) {
  process_exit exit;
  exit.at = at;
  (how.code == CLD_EXITED ? exit.code : exit.signal) = how.value;
  exit.cpu = microseconds(how.cpu);
  exit.max_rss = how.peak * 1024;
  return exit;
}

// Of one that somebody else has reaped.
process_exit unknown_exit(monotonic_time at) {
  process_exit exit;
  exit.at = at;
  return exit;
}

bool has_ended(int pidfd) noexcept {
  pollfd end{pidfd, POLLIN, 0};
  return ::poll(&end, 1, 0) == 1;
}

// Right after the reaping of the leader: may any process still have this number as its session or group? To make a number the
// owner of a file, the kernel looks it up in all its roles (since 4.12), and says ESRCH only when nobody has it in any. A
// reading of /proc would say the same a thousand times slower.
bool may_have_members(std::int32_t session) noexcept {
  const descriptor probe(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return !probe || ::fcntl(probe.get(), F_SETOWN, session) == 0 || errno != ESRCH;
}

}  // namespace

void supervised_child::exit_watch::on_ready(readiness) {
  const auto alive = child.shared_from_this();
  child.notice_exit();
}

void supervised_child::shim_watch::on_ready(readiness) {
  const auto alive = child.shared_from_this();
  child.hear_shim();
}

void supervised_child::output_watch::on_ready(readiness) {
  const auto alive = child.shared_from_this();
  child.read_output();
}

void supervised_child::signal_group(int signal) noexcept {
  if (stage_ == stage::launching) return signals_.push_back(signal);
  if (stage_ == stage::reaped) return;
  if (shim_) {
    // The shim knows whether the number is still the group's. One that does not listen is there, and keeps it.
    const shim_line::delivery how = shim_.ask(shim_protocol::wish::signal, signal);
    if (how == shim_line::delivery::deaf) ::kill(-who_.pid, signal);
  } else {
    const bool kept = !foreign_ || !has_ended(pidfd_.get());  // the number, by its leader
    if (!kept || ::kill(-who_.pid, signal) != 0) return;
  }
  kill_sent_ = kill_sent_ || signal == SIGKILL;
}

void supervised_child::hold_output(bool hold) {
  if (output_ && keeper_ != nullptr) keeper_->reactor().rewatch(output_.get(), hold ? readiness::none : readiness::read);
  output_held_ = hold;  // only now: a rewatch that fails has changed nothing
}

void supervised_child::kill_session(unique_function<void(int killed, int left)> done) {
  killed_.push_back(std::move(done));
  if (keeper_ == nullptr || sweeping_) return;
  try {
    if (stage_ != stage::launching)
      begin_sweep();
    else if (keeper_->withdraw(ticket_))
      keeper_->later(ticket_, &supervised_child::on_withdrawn);
    else
      keeper_->stop(ticket_);
  } catch (...) {
    killed_.pop_back();  // the caller is told so, and may ask again
    throw;
  }
  sweeping_ = true;
}

void supervised_child::release() noexcept {
  events_ = nullptr;
  killed_.clear();
  close_output();
  if (keeper_ == nullptr) return;
  if (stage_ == stage::launching) {
    if (keeper_->withdraw(ticket_))
      stage_ = stage::reaped;
    else
      keeper_->stop(ticket_);
  } else if (stage_ == stage::ended && !sweeping_) {
    reap();
  }
  forget_if_done();
}

void supervised_child::on_launched(launched child, const std::string& boot_id) {
  const auto alive = shared_from_this();
  if (child.error() != 0) return fail(child.error(), child.step());
  who_ = {child.pid(), child.start_time(), boot_id};
  launched::descriptors opened = child.release();
  pidfd_ = std::move(opened.pidfd);
  shim_ = std::move(opened.shim);
  stage_ = stage::running;
  try {
    watch(std::move(opened.output));
  } catch (const std::system_error& error) {
    stop_watching_exit();
    if (shim_) {
      shim_.end_tree();
    } else {
      signal_group(SIGKILL);
      wait_for_exit(pidfd_.get(), WEXITED);  // it has just been killed
    }
    return fail(error.code().value(), "watch");
  }
  // Nobody has heard of a child whose handle went before it came.
  const bool unwanted = sweeping_ || events_ == nullptr;
  sweeping_ = unwanted;
  if (events_ != nullptr) events_->on_spawned(who_);
  for (const int signal : std::exchange(signals_, {})) signal_group(signal);
  if (unwanted) begin_sweep();
}

void supervised_child::watch(descriptor output) {
  if (shim_)
    keeper_->reactor().watch(shim_.get(), readiness::read, shim_watch_);
  else
    keeper_->reactor().watch(pidfd_.get(), readiness::read, exit_watch_);
  watching_exit_ = true;
  if (events_ == nullptr) return;
  keeper_->reactor().watch(output.get(), output_held_ ? readiness::none : readiness::read, output_watch_);
  output_ = std::move(output);
}

void supervised_child::fail(int error, std::string_view what) {
  stage_ = stage::reaped;
  reaped_at_ = keeper_->clock().boot();
  pidfd_.reset();
  if (events_ != nullptr) events_->on_spawn_failed(error, what);
  if (sweeping_)
    on_swept(0, 0);
  else
    forget_if_done();
}

void supervised_child::on_withdrawn() { fail(ECANCELED, "stopped before it was started"); }

void supervised_child::begin_sweep() {
  if (all_gone_) return keeper_->later(ticket_, &supervised_child::on_nothing_left);
  if (!shim_) return begin_session_sweep();
  // Whatever comes of it: an answer, the end of the channel, or the reminder.
  keeper_->remind(ticket_, ++sweeps_);
  killed_by_shim_ = 0;
  ::kill(shim_.pid(), SIGCONT);  // somebody may have stopped it
  shim_.ask(shim_protocol::wish::kill, static_cast<std::int32_t>(keeper_->time_to_kill().count()));
}

void supervised_child::begin_session_sweep() {
  // Before the reaping, after which the group could be somebody else's: what keeps forking would be in no reading of /proc.
  if (is_running() && !(foreign_ && has_ended(pidfd_.get()))) ::kill(-who_.pid, SIGSTOP);
  if (stage_ == stage::ended) reap();
  const bool never_was = who_.pid == 0;
  if (never_was || (stage_ == stage::reaped && !may_have_members(who_.pid)))
    return keeper_->later(ticket_, &supervised_child::on_nothing_left);
  const bool reaped = stage_ == stage::reaped;
  const std::uint64_t last_seen = start_time_at(reaped ? reaped_at_ : keeper_->clock().boot());
  keeper_->sweep(ticket_, {who_.pid, who_.start_time, last_seen, nature_.mark, !reaped && !foreign_});
}

void supervised_child::hear_shim() {
  shim_protocol::report said;
  while (shim_) {
    switch (shim_.read(said)) {
      case shim_line::heard::nothing:
        return;
      case shim_line::heard::end:
        return on_shim_end();
      case shim_line::heard::news:
        break;
    }
    if (said.what == shim_protocol::news::exited && stage_ == stage::running) {
      tell_exit(describe(said, keeper_->clock().monotonic()), stage::ended);
    } else if (said.what == shim_protocol::news::swept && sweeping_) {
      killed_by_shim_ = said.code;
      if (said.value > 0) on_swept(said.code, said.value);  // else its end follows
    }
    if (keeper_ == nullptr) return;  // what was called has closed the loop
  }
}

void supervised_child::on_overdue(std::uint32_t sweep) {
  const auto alive = shared_from_this();
  if (!shim_ || !sweeping_ || sweep != sweeps_) return;
  hear_shim();  // it may have answered while the loop was held up
  if (!shim_ || !sweeping_) return;
  shim_.kill();
  on_shim_end();
}

void supervised_child::on_shim_end() {
  stop_watching_exit();
  all_gone_ = shim_.bury();
  if (all_gone_) {
    pidfd_.reset();
    stage_ = stage::reaped;  // it has told of the end of the main process before its own
    if (sweeping_) return on_swept(killed_by_shim_, 0);
    return forget_if_done();
  }
  foreign_ = true;
  nature_.tier = containment_tier::session;
  if (stage_ == stage::ended) {
    pidfd_.reset();
    stage_ = stage::reaped;  // by whoever adopts orphans
  }
  if (stage_ == stage::running) {
    try {
      keeper_->reactor().watch(pidfd_.get(), readiness::read, exit_watch_);
      watching_exit_ = true;
    } catch (const std::system_error&) {
      // Its end would not be seen: it is brought about here.
      ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
      tell_exit(unknown_exit(keeper_->clock().monotonic()), stage::reaped);
    }
  }
  if (keeper_ == nullptr) return;
  if (sweeping_)
    begin_session_sweep();
  else
    forget_if_done();
}

void supervised_child::on_swept(int killed, int left) {
  const auto alive = shared_from_this();
  if (stage_ == stage::running) notice_exit();  // the killed main process may be reported before its pidfd was seen
  // Nothing else was found, but the main process has not ended.
  if (stage_ == stage::running && left == 0) left = 1;
  sweeping_ = false;
  if (stage_ == stage::ended) reap();
  for (auto& done : std::exchange(killed_, {})) done(killed, left);
  forget_if_done();
}

void supervised_child::notice_exit() {
  if (stage_ != stage::running || shim_) return;
  if (foreign_) {
    if (has_ended(pidfd_.get())) tell_exit(unknown_exit(keeper_->clock().monotonic()), stage::reaped);
    return;
  }
  // Leaves the zombie: it keeps the pid ours.
  const ending how = wait_for_exit(pidfd_.get(), WEXITED | WNOHANG | WNOWAIT);
  if (how.error == 0 && how.info.si_pid == 0) return;
  // An error: something else in this process took the status, and with it the zombie. The pid may be anybody's from here on.
  tell_exit(describe(how, keeper_->clock().monotonic()), how.error == 0 ? stage::ended : stage::reaped);
}

void supervised_child::tell_exit(const process_exit& how, stage next) {
  if (!shim_) stop_watching_exit();
  stage_ = next;
  reaped_at_ = keeper_->clock().boot();
  if (events_ != nullptr) events_->on_exit(how);
  if (keeper_ == nullptr) return;
  if (events_ == nullptr && !sweeping_ && stage_ == stage::ended) reap();
  forget_if_done();
}

void supervised_child::read_output() {
  static thread_local std::array<char, chunk_size> buffer;
  for (int chunk = 0; chunk < chunks_per_readiness && output_ && !output_held_; ++chunk) {
    const ssize_t got = read_some(output_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      close_output();
      if (events_ != nullptr) events_->on_output_end();
      return;
    }
    events_->on_output({buffer.data(), static_cast<std::size_t>(got)});
    if (static_cast<std::size_t>(got) < buffer.size()) return;
  }
}

void supervised_child::close_output() noexcept {
  if (!output_) return;
  if (keeper_ != nullptr) keeper_->reactor().unwatch(output_.get());
  output_.reset();
}

void supervised_child::stop_watching_exit() noexcept {
  if (std::exchange(watching_exit_, false) && keeper_ != nullptr)
    keeper_->reactor().unwatch(shim_ ? shim_.get() : pidfd_.get());
}

void supervised_child::reap() noexcept {
  if (shim_)
    shim_.ask(shim_protocol::wish::release);
  else if (!all_gone_)
    wait_for_exit(pidfd_.get(), WEXITED | WNOHANG);
  pidfd_.reset();
  stage_ = stage::reaped;
  if (keeper_ != nullptr) reaped_at_ = keeper_->clock().boot();
}

void supervised_child::forget_if_done() noexcept {
  const bool over = stage_ == stage::reaped && events_ == nullptr && !sweeping_ && !shim_;
  if (keeper_ != nullptr && over) keeper_->forget(ticket_);
}

void supervised_child::detach(monotonic_time until) noexcept {
  stop_watching_exit();
  close_output();
  if (shim_) {
    leave_shim(until);
  } else {
    if (sweeping_) signal_group(SIGKILL);  // the search may not have come to it
    if (stage_ == stage::running && kill_sent_) wait_for_end(pidfd_.get(), keeper_->clock(), until);
    if (is_running()) wait_for_exit(pidfd_.get(), WEXITED | WNOHANG);
  }
  pidfd_.reset();
  stage_ = stage::reaped;
  keeper_ = nullptr;
  events_ = nullptr;
  killed_.clear();
}

// It reads before it sees the end of the channel. Left to itself it guards what goes on running, until nothing does.
void supervised_child::leave_shim(monotonic_time until) noexcept {
  const auto left = [&] {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - keeper_->clock().monotonic());
    return std::max(rest, std::chrono::milliseconds::zero());
  };
  if (sweeping_ || nature_.ends_with_us) {
    ::kill(shim_.pid(), SIGCONT);
    if (!sweeping_) shim_.ask(shim_protocol::wish::kill, static_cast<std::int32_t>(keeper_->time_to_kill().count()));
  } else if (stage_ == stage::running && kill_sent_) {
    wait_for_end(pidfd_.get(), keeper_->clock(), until);
  }
  shim_.ask(shim_protocol::wish::leave);
  if (shim_.wait_for_end(left())) shim_.bury();
  shim_ = {};
}

}  // namespace looptask
