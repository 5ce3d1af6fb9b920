#include "host/process_launcher.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "host/quiet_thread.hpp"

namespace looptask {
namespace {

using steady = std::chrono::steady_clock;

launched launch_or_report(const process_spec& spec, launch_control& control) {
  try {
    return launch(spec, control);
  } catch (const std::bad_alloc&) {
    return {ENOMEM, "prepare"};
  }
}

}  // namespace

// Launchers take what waits, one at a time; a watcher sees to it that one that hangs is not waited for.
class process_launcher::crew : public std::enable_shared_from_this<crew> {
 public:
  crew(unsigned long timer_slack, report done, limits how) : timer_slack_(timer_slack), done_(std::move(done)), limits_(how) {}

  void begin_work() {
    const std::unique_lock lock(mutex_);
    add_thread(&crew::watch);
    add_launcher();
  }

  void begin(std::uint64_t ticket, process_spec spec) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({ticket, std::move(spec)});
      if (current_ != nullptr) wake_watcher();
    }
    ready_.notify_one();
  }

  bool withdraw(std::uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    return std::erase_if(waiting_, [ticket](const request& one) { return one.ticket == ticket; }) != 0;
  }

  void stop(std::uint64_t ticket) noexcept {
    const std::lock_guard lock(mutex_);
    for (under_way& one : under_way_) {
      if (one.ticket != ticket || one.answer_by) continue;
      one.answer_by = steady::now() + limits_.bound;
      one.control.stop();
      watcher_.notify_one();
    }
  }

  void end() noexcept {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    waiting_.clear();
    for (under_way& one : under_way_) one.control.stop();
    ready_.notify_all();
    watcher_.notify_all();
    const auto all_over = [this] {
      return std::all_of(threads_.begin(), threads_.end(), [](const worker& one) { return one.over; });
    };
    over_.wait_for(lock, limits_.last_wait, all_over);
    for (worker& one : threads_) {
      if (!one.over) one.thread.detach();
    }
    std::list<worker> ended = std::move(threads_);
    threads_.clear();
    lock.unlock();
    for (worker& one : ended)
      if (one.thread.joinable()) one.thread.join();
  }

 private:
  struct request {
    std::uint64_t ticket;
    process_spec spec;
  };
  struct under_way {
    std::uint64_t ticket = 0;
    steady::time_point since{};
    std::optional<steady::time_point> answer_by{};  // it was stopped
    bool told = false;
    launch_control control{};
  };
  struct worker {
    std::thread thread{};
    bool over = false;
  };

  void add_thread(void (crew::*body)(std::unique_lock<std::mutex>&)) {
    worker& made = threads_.emplace_back();
    try {
      made.thread = quiet_thread([self = shared_from_this(), body, &made] {
        std::unique_lock lock(self->mutex_);
        ((*self).*body)(lock);
        if (self->stopping_ && self->threads_.empty()) return;  // it was left behind
        made.over = true;
        self->over_.notify_all();
      });
    } catch (...) {
      threads_.pop_back();
      throw;
    }
  }
  void add_launcher() {
    add_thread(&crew::work);
    ++launchers_;
  }

  void wake_watcher() noexcept {
    if (!watcher_has_deadline_) watcher_.notify_one();
  }

  void work(std::unique_lock<std::mutex>& lock) {
    ::prctl(PR_SET_TIMERSLACK, timer_slack_, 0UL, 0UL, 0UL);
    while (true) {
      ready_.wait(lock, [this] { return stopping_ || (current_ == nullptr && !waiting_.empty()); });
      if (stopping_) return;
      const request one = std::move(waiting_.front());
      waiting_.pop_front();
      const auto place = under_way_.emplace(under_way_.end());
      place->ticket = one.ticket;
      place->since = steady::now();
      current_ = &*place;
      if (!waiting_.empty()) wake_watcher();
      lock.unlock();
      std::optional<launched> child(launch_or_report(one.spec, place->control));
      lock.lock();
      const bool wanted = !stopping_ && !place->told;
      if (current_ == &*place) current_ = nullptr;
      under_way_.erase(place);
      if (wanted) {
        done_(one.ticket, std::move(*child));
      } else {
        lock.unlock();
        child.reset();  // kills it
        lock.lock();
      }
    }
  }

  void watch(std::unique_lock<std::mutex>& lock) {
    while (!stopping_) {
      if (const std::optional<steady::time_point> next = next_look()) {
        watcher_has_deadline_ = true;
        watcher_.wait_until(lock, *next);
      } else {
        watcher_has_deadline_ = false;
        watcher_.wait(lock);
      }
      if (stopping_) return;
      const steady::time_point now = steady::now();
      if (current_ != nullptr && !waiting_.empty() && now >= current_->since + limits_.patience) go_on_without_current(now);
      for (under_way& one : under_way_) {
        if (one.told || !one.answer_by || now < *one.answer_by) continue;
        one.told = true;
        done_(one.ticket, {ETIMEDOUT, "stop a start that hangs"});
      }
    }
  }

  std::optional<steady::time_point> next_look() const {
    std::optional<steady::time_point> next;
    if (current_ != nullptr && !waiting_.empty()) next = current_->since + limits_.patience;
    for (const under_way& one : under_way_) {
      if (one.answer_by && !one.told) next = std::min(next.value_or(*one.answer_by), *one.answer_by);
    }
    return next;
  }

  void go_on_without_current(steady::time_point now) {
    if (launchers_ == under_way_.size()) {
      bool added = launchers_ < limits_.most;
      if (added) {
        try {
          add_launcher();
        } catch (const std::system_error&) {
          added = false;  // no thread to be had; a child could not be made either
        }
      }
      if (!added) {
        current_->since = now;  // looked at again after as long
        return;
      }
    }
    current_ = nullptr;
    ready_.notify_one();
  }

  const unsigned long timer_slack_;
  report done_;
  const limits limits_;
  std::mutex mutex_;  // guards all that follows
  std::condition_variable ready_;
  std::condition_variable watcher_;
  std::condition_variable over_;
  std::deque<request> waiting_;
  std::list<under_way> under_way_;
  under_way* current_ = nullptr;  // the one that those behind it wait for
  std::list<worker> threads_;
  std::size_t launchers_ = 0;
  bool watcher_has_deadline_ = false;
  bool stopping_ = false;
};

process_launcher::process_launcher(unsigned long timer_slack, report done, limits how)
    : crew_(std::make_shared<crew>(timer_slack, std::move(done), how)) {
  try {
    crew_->begin_work();
  } catch (...) {
    crew_->end();
    throw;
  }
}

process_launcher::process_launcher(unsigned long timer_slack, report done)
    : process_launcher(timer_slack, std::move(done), limits{}) {}

process_launcher::~process_launcher() { crew_->end(); }

void process_launcher::begin(std::uint64_t ticket, process_spec spec) { crew_->begin(ticket, std::move(spec)); }

bool process_launcher::withdraw(std::uint64_t ticket) { return crew_->withdraw(ticket); }

void process_launcher::stop(std::uint64_t ticket) noexcept { crew_->stop(ticket); }

}  // namespace looptask
