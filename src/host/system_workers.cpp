#include "host/system_workers.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "host/quiet_thread.hpp"

namespace looptask {

using stage = worker_call::place::stage;

class system_workers::pool final : public std::enable_shared_from_this<pool> {
 public:
  pool(const clock_port& clock, inbox& home, worker_limits how) : clock_(clock), home_(home), limits_(how) {}

  void limit(worker_limits how) {
    const std::lock_guard lock(mutex_);
    limits_ = how;
    while (worker* const one = idle_.pop_back()) one->called.notify_one();  // to wait anew, or to end
    try {
      for (std::size_t waiting = queued_; waiting != 0 && threads_ < limits_.threads; --waiting) add_thread();
    } catch (const std::system_error&) {
      return;  // those that are there come to what waits, one after another
    }
  }

  void submit(std::shared_ptr<worker_call> call) {
    std::vector<std::shared_ptr<worker>> ended;
    {
      const std::lock_guard lock(mutex_);
      LOOPTASK_ASSERT(call->in_port.at == stage::none, "a worker_call is submitted once");
      take_ended(ended);
      worker_call& what = *call;
      what.in_port.at = stage::queued;
      what.in_port.kept = call;
      queue_.push_back(what);
      ++queued_;
      call_a_thread(what);
    }
    for (const auto& one : ended) one->thread.join();
  }

  bool withdraw(worker_call& call) noexcept {
    std::shared_ptr<worker_call> dropped;  // outside of the lock
    const std::lock_guard lock(mutex_);
    return take_back(call, dropped);
  }

  bool abandon(worker_call& call) noexcept {
    const std::lock_guard lock(mutex_);
    if (call.in_port.at != stage::running) return false;
    call.in_port.at = stage::abandoned;
    --awaited_;
    return true;
  }

  void join(worker_call& call) noexcept {
    std::shared_ptr<worker_call> dropped;
    std::unique_lock lock(mutex_);
    if (take_back(call, dropped)) return;
    over_.wait(lock, [&call] { return call.in_port.at == stage::none || call.in_port.at == stage::ended; });
  }

  worker_statistics statistics() const {
    const std::lock_guard lock(mutex_);
    worker_statistics now;
    now.threads = threads_;
    now.queued = queued_;
    for (worker* one = idle_.front(); one != nullptr; one = idle_.next(*one)) ++now.idle;
    for (worker_call* one = running_.front(); one != nullptr; one = running_.next(*one)) {
      ++now.running;
      if (one->in_port.at == stage::abandoned) now.abandoned.push_back({std::string(one->name()), one->in_port.since});
    }
    return now;
  }

  void end() noexcept {
    std::vector<std::shared_ptr<worker_call>> dropped;
    std::unique_lock lock(mutex_);
    stopping_ = true;
    list<worker_call, worker_tag> unbegun;
    unbegun.splice_back(queue_);
    while (worker* const one = idle_.pop_back()) one->called.notify_one();
    over_.wait(lock, [this] { return awaited_ == 0; });
    std::vector<std::shared_ptr<worker>> all = std::move(workers_);
    for (const auto& one : all) {
      if (one->runs != nullptr) one->thread.detach();  // an abandoned call
    }
    lock.unlock();
    while (worker_call* const call = unbegun.pop_front()) {
      const std::shared_ptr<worker_call> last = std::move(call->in_port.kept);
      call->in_port.at = stage::none;
    }
    for (const auto& one : all) {
      if (one->thread.joinable()) one->thread.join();
    }
  }

 private:
  struct worker : list_node<> {
    std::thread thread;
    std::condition_variable called;
    worker_call* runs = nullptr;
    bool over = false;
  };

  // For a call that was queued last. The lock is held.
  void call_a_thread(worker_call& what) {
    if (worker* const one = idle_.pop_back()) return one->called.notify_one();
    if (threads_ >= limits_.threads) return;
    try {
      add_thread();
    } catch (...) {
      if (threads_ != 0) return;  // they will come to it
      std::shared_ptr<worker_call> dropped;
      take_back(what, dropped);
      throw;
    }
  }

  void add_thread() {
    const auto made = std::make_shared<worker>();
    workers_.push_back(made);
    try {
      made->thread = quiet_thread([self = shared_from_this(), made] {
        std::unique_lock lock(self->mutex_);
        self->work(*made, lock);
        --self->threads_;
        made->over = true;
      });
    } catch (...) {
      workers_.pop_back();
      throw;
    }
    ++threads_;
  }

  void take_ended(std::vector<std::shared_ptr<worker>>& ended) {
    if (threads_ == workers_.size()) return;
    const auto over = std::partition(workers_.begin(), workers_.end(), [](const auto& one) { return !one->over; });
    ended.assign(std::make_move_iterator(over), std::make_move_iterator(workers_.end()));
    workers_.erase(over, workers_.end());
  }

  bool take_back(worker_call& call, std::shared_ptr<worker_call>& dropped) noexcept {
    if (call.in_port.at != stage::queued) return false;
    call.unlink();
    --queued_;
    call.in_port.at = stage::none;
    dropped = std::move(call.in_port.kept);
    return true;
  }

  void work(worker& me, std::unique_lock<std::mutex>& lock) {
    while (!stopping_ && threads_ <= limits_.threads) {
      if (worker_call* const call = queue_.pop_front()) {
        --queued_;
        run(me, *call, lock);
      } else {
        idle_.push_back(me);
        me.called.wait_for(lock, limits_.idle, [&me] { return !me.linked(); });
        if (me.linked()) return me.unlink();  // nobody has called
      }
    }
  }

  void run(worker& me, worker_call& call, std::unique_lock<std::mutex>& lock) {
    std::shared_ptr<worker_call> kept = std::move(call.in_port.kept);
    call.in_port.at = stage::running;
    call.in_port.since = clock_.monotonic();  // not once stopping_: then the clock may be gone
    running_.push_back(call);
    me.runs = &call;
    ++awaited_;
    lock.unlock();
    call.run();
    lock.lock();
    const bool awaited = call.in_port.at == stage::running;
    call.unlink();
    call.in_port.at = stage::ended;
    me.runs = nullptr;
    over_.notify_all();
    lock.unlock();
    if (awaited) {
      home_.post([kept = std::move(kept)] { kept->ended(); });  // the home waits for awaited_
    } else {
      kept.reset();
    }
    lock.lock();
    if (awaited && --awaited_ == 0) over_.notify_all();
  }

  const clock_port& clock_;
  inbox& home_;
  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable over_;
  worker_limits limits_;
  list<worker_call, worker_tag> queue_;
  std::size_t queued_ = 0;
  mutable list<worker_call, worker_tag> running_;
  std::size_t awaited_ = 0;                       // calls that run or come home, not abandoned
  mutable list<worker> idle_;                     // the last is the one that had work last
  std::vector<std::shared_ptr<worker>> workers_;  // all, and those that are over and not joined yet
  std::size_t threads_ = 0;                       // not over
  bool stopping_ = false;
};

system_workers::~system_workers() { detach(); }

void system_workers::attach(inbox& home) {
  LOOPTASK_ASSERT(pool_ == nullptr, "a worker port is attached to one loop at a time");
  pool_ = std::make_shared<pool>(clock_, home, limits_);
}

void system_workers::detach() noexcept {
  if (const std::shared_ptr<pool> ending = std::move(pool_)) ending->end();
}

void system_workers::limit(worker_limits how) {
  LOOPTASK_ASSERT(how.threads > 0, "a pool of workers needs at least one thread");
  // The wait of a condition variable must not overflow.
  how.idle = std::clamp<duration>(how.idle, duration(0), std::chrono::hours(24 * 365));
  limits_ = how;
  if (pool_) pool_->limit(how);
}

void system_workers::submit(std::shared_ptr<worker_call> call) {
  LOOPTASK_ASSERT(pool_ != nullptr, "workers need a loop: attach() first");
  pool_->submit(std::move(call));
}

bool system_workers::withdraw(worker_call& call) noexcept { return pool_ && pool_->withdraw(call); }
bool system_workers::abandon(worker_call& call) noexcept { return pool_ && pool_->abandon(call); }
void system_workers::join(worker_call& call) noexcept {
  if (pool_) pool_->join(call);
}

worker_statistics system_workers::statistics() const { return pool_ ? pool_->statistics() : worker_statistics{}; }

}  // namespace looptask
