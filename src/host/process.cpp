#include "host/process.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "host/process_child.hpp"
#include "host/process_launcher.hpp"
#include "host/process_sweep.hpp"
#include "host/process_table.hpp"
#include "host/reminders.hpp"

namespace looptask {
namespace {

// After this long without dying, a process is reported instead of waited for.
constexpr std::chrono::seconds kill_bound(5);

// A shim that has not said by then that it is done, one way or the other, is killed in its turn.
constexpr std::chrono::seconds shim_bound = kill_bound + std::chrono::seconds(1);

// What was killed just before the loop went gets this long to die, so that it can be reaped.
constexpr std::chrono::seconds last_wait(1);

// The variable that marks the processes of a run.
constexpr std::string_view run_id_variable = "LOOPTASK_RUN_ID=";

std::string mark_of(const process_spec& spec) {
  for (const std::string& variable : spec.env)
    if (variable.starts_with(run_id_variable)) return variable;
  return {};
}

class handle final : public child_process {
 public:
  explicit handle(std::shared_ptr<supervised_child> child) : child_(std::move(child)) {}
  ~handle() override { child_->release(); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;

  void signal_group(int signal) noexcept override { child_->signal_group(signal); }
  void hold_output(bool hold) override { child_->hold_output(hold); }
  void kill_session(unique_function<void(int killed, int left)> done) override { child_->kill_session(std::move(done)); }
  containment_tier tier() const noexcept override { return child_->tier(); }

 private:
  std::shared_ptr<supervised_child> child_;
};

}  // namespace

// The part of the port that lives on the loop's thread. What the two threads post holds it weakly: work that comes home after
// detach() finds nobody.
class real_process_port::home_side final : public child_keeper, public std::enable_shared_from_this<home_side> {
 public:
  home_side(reactor_port& reactor, const clock_port& clock)
      : reactor_(reactor),
        clock_(clock),
        reminders_(reactor, clock, shim_bound,
                   [this](std::uint64_t ticket, std::uint32_t sweep) { on_overdue(ticket, sweep); }) {}

  // What may fail comes before home_ is set: a port that could not be attached is as it was.
  void attach(inbox& home) {
    LOOPTASK_ASSERT(home_ == nullptr, "a process port is attached to one loop at a time");
    boot_id_ = clock_.boot_id();
    timer_slack_ = static_cast<unsigned long>(::prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL));
    home_ = &home;
    struct sigaction now {};
    ::sigaction(SIGCHLD, nullptr, &now);
    const bool ignored = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN;
    if (!ignored && (now.sa_flags & SA_NOCLDWAIT) == 0) return;
    now.sa_flags &= ~SA_NOCLDWAIT;
    if (ignored) now.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &now, nullptr);
  }

  void detach() noexcept {
    launcher_.reset();
    sweeper_.reset();
    const monotonic_time until = clock_.monotonic() + last_wait;
    for (const auto& [ticket, child] : children_) child->detach(until);
    children_.clear();
    searches_.clear();
    reminders_.end();
    home_ = nullptr;
  }

  std::shared_ptr<supervised_child> spawn(process_spec spec, process_events& events) {
    LOOPTASK_ASSERT(home_ != nullptr, "spawn needs a loop: attach() first");
    LOOPTASK_ASSERT(!spec.argv.empty(), "spawn needs a program: argv is empty");
    LOOPTASK_ASSERT(spec.workdir.starts_with('/'), "spawn needs an absolute workdir");
    const bool contained = spec.containment != containment_tier::session;
    LOOPTASK_ASSERT(contained || !spec.end_with_us, "end_with_us needs containment: a session has nobody to see to it");
    const std::uint64_t ticket = ++last_ticket_;
    supervised_child::nature what{mark_of(spec), spec.containment, spec.end_with_us};
    auto child = std::make_shared<supervised_child>(*this, ticket, events, std::move(what));
    children_.emplace(ticket, child);
    try {
      make_threads();
      if (contained) reminders_.begin();
      launcher_->begin(ticket, std::move(spec));
    } catch (const std::system_error& e) {
      fail_later(ticket, e.code().value());
    } catch (...) {
      children_.erase(ticket);
      throw;
    }
    return child;
  }

  void kill_leftovers(std::vector<leftover> runs, unique_function<void(int killed, int left)> done) {
    LOOPTASK_ASSERT(home_ != nullptr, "kill_leftovers needs a loop: attach() first");
    process_sweeper::search what;
    what.ticket = ++last_ticket_;
    for (const leftover& run : runs) {
      const std::string mark = run.run_id.empty() ? std::string{} : std::string(run_id_variable) + run.run_id;
      if (!mark.empty()) what.variables.push_back(mark);
      if (!run.who || run.who->pid <= 0 || run.who->boot_id != boot_id_) continue;
      const std::uint64_t seen = run.alive_until ? start_time_at(*run.alive_until) : 0;
      // It was there when it started, at least.
      what.sessions.push_back({run.who->pid, run.who->start_time, std::max(seen, run.who->start_time), mark});
    }
    const std::uint64_t ticket = what.ticket;
    searches_.emplace(ticket, std::move(done));
    try {
      make_threads();
      sweeper_->begin(std::move(what));
    } catch (...) {
      searches_.erase(ticket);
      throw;
    }
  }

  process_statistics statistics() const noexcept {
    process_statistics now;
    for (const auto& [ticket, child] : children_) {
      if (child->is_running()) ++now.alive;
      if (child->is_launching()) ++now.launching;
    }
    now.started = started_;
    now.failed = failed_;
    return now;
  }

  // child_keeper
  reactor_port& reactor() noexcept override { return reactor_; }
  const clock_port& clock() const noexcept override { return clock_; }
  // A start that failed for want of threads has no launcher to ask.
  bool withdraw(std::uint64_t ticket) override { return launcher_ && launcher_->withdraw(ticket); }
  void stop(std::uint64_t ticket) noexcept override {
    if (launcher_) launcher_->stop(ticket);
  }
  void sweep(std::uint64_t ticket, process_sweeper::session which) override { sweeper_->begin({ticket, {which}, {}, which}); }
  std::chrono::milliseconds time_to_kill() const noexcept override { return kill_bound; }
  void remind(std::uint64_t ticket, std::uint32_t sweep) override { reminders_.add(ticket, sweep); }
  void later(std::uint64_t ticket, void (supervised_child::*step)()) override {
    home_->post([weak = weak_from_this(), ticket, step] {
      const auto self = weak.lock();
      if (const auto child = self ? self->find(ticket) : nullptr) (*child.*step)();
    });
  }
  void forget(std::uint64_t ticket) noexcept override { children_.erase(ticket); }

 private:
  // All of them before the first child, and not when each is needed: that may be the moment in which no thread can be made any
  // more, and then nothing could be killed either. Who starts no child has no thread.
  void make_threads() {
    if (launcher_) return;
    sweeper_.emplace(kill_bound, [weak = weak_from_this(), home = home_](std::uint64_t ticket, int killed, int left) {
      home->post([weak, ticket, killed, left] {
        if (const auto self = weak.lock()) self->on_swept(ticket, killed, left);
      });
    });
    try {
      launcher_.emplace(timer_slack_, [weak = weak_from_this(), home = home_](std::uint64_t ticket, launched child) {
        home->post([weak, ticket, child = std::move(child)]() mutable {
          if (const auto self = weak.lock()) self->on_launched(ticket, std::move(child));
        });
      });
    } catch (...) {
      sweeper_.reset();
      throw;
    }
  }

  void fail_later(std::uint64_t ticket, int error) {
    home_->post([weak = weak_from_this(), ticket, error] {
      if (const auto self = weak.lock()) self->on_launched(ticket, {error, "start a thread"});
    });
  }

  std::shared_ptr<supervised_child> find(std::uint64_t ticket) {
    const auto found = children_.find(ticket);
    return found == children_.end() ? nullptr : found->second;
  }

  // A child that nobody waits for any more is killed by the destruction of `child`.
  void on_launched(std::uint64_t ticket, launched child) {
    const auto known = find(ticket);
    if (!known) return;
    ++(child.error() == 0 ? started_ : failed_);
    known->on_launched(std::move(child), boot_id_);
  }

  void on_overdue(std::uint64_t ticket, std::uint32_t sweep) {
    if (const auto child = find(ticket)) child->on_overdue(sweep);
  }

  void on_swept(std::uint64_t ticket, int killed, int left) {
    if (auto search = searches_.extract(ticket)) return search.mapped()(killed, left);
    if (const auto child = find(ticket)) child->on_swept(killed, left);
  }

  reactor_port& reactor_;
  const clock_port& clock_;
  inbox* home_ = nullptr;
  std::string boot_id_;
  unsigned long timer_slack_ = 0;  // nanoseconds; of the loop's thread before it was attached, for children
  std::uint64_t last_ticket_ = 0;
  std::size_t started_ = 0;
  std::size_t failed_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<supervised_child>> children_;
  std::unordered_map<std::uint64_t, unique_function<void(int killed, int left)>> searches_;
  reminders reminders_;
  std::optional<process_launcher> launcher_;
  std::optional<process_sweeper> sweeper_;
};

real_process_port::real_process_port(reactor_port& reactor, const clock_port& clock)
    : home_(std::make_shared<home_side>(reactor, clock)) {}

real_process_port::~real_process_port() { home_->detach(); }

void real_process_port::attach(inbox& home) { home_->attach(home); }

void real_process_port::detach() noexcept { home_->detach(); }

std::unique_ptr<child_process> real_process_port::spawn(process_spec spec, process_events& events) {
  return std::make_unique<handle>(home_->spawn(std::move(spec), events));
}

void real_process_port::kill_leftovers(std::vector<leftover> runs, unique_function<void(int killed, int left)> done) {
  home_->kill_leftovers(std::move(runs), std::move(done));
}

containment_tier real_process_port::containment() const noexcept {
  return shim_program() >= 0 ? containment_tier::tree : containment_tier::session;
}

process_statistics real_process_port::statistics() const noexcept { return home_->statistics(); }

}  // namespace looptask
