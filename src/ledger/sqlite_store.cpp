// The store's two halves. On the loop's thread: the queue, who waits for what, and the reading connection. On the writer's own
// thread: one group at a time. A group is everything that waited when the writer was free and the pace allowed a sync, so it
// grows with the load.
#include "ledger/sqlite_store.hpp"

#include <looptask/assert.hpp>

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "host/quiet_thread.hpp"
#include "ledger/history_file.hpp"
#include "ledger/history_reader.hpp"
#include "ledger/history_writer.hpp"
#include "ledger/record_rules.hpp"
#include "ledger/sync_pace.hpp"

namespace looptask::ledger {
namespace {

struct group {
  std::vector<batch> batches;
  std::optional<instant> alive;
};

struct group_result {
  history_writer::written written;
  std::optional<std::string> storage_error;
};

group_result write_group(history_writer& writer, group& what) {
  group_result result;
  try {
    result.written = writer.write(what.batches, what.alive);
  } catch (const std::exception& why) {
    result.storage_error = why.what();
  }
  return result;
}

// Writes the groups it is given, one after another, and hands each result to `finished` on its own thread.
class writer_thread {
 public:
  writer_thread(history_writer& writer, unique_function<void(group_result)> finished)
      : writer_(writer), finished_(std::move(finished)) {
    thread_ = quiet_thread([this] { serve(); });
    pthread_setname_np(thread_.native_handle(), "ledger");
  }

  ~writer_thread() { stop(); }
  writer_thread(const writer_thread&) = delete;
  writer_thread& operator=(const writer_thread&) = delete;

  void write(group what) {
    {
      const std::lock_guard lock(mutex_);
      LOOPTASK_ASSERT(!next_, "the writer is given a group while it has one");
      next_ = std::move(what);
    }
    changed_.notify_one();
  }

  // Returns when the group in hand, if any, has been written and handed over: whether the storage took the last one.
  bool stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
    return well_;
  }

 private:
  void serve() {
    while (std::optional<group> what = take()) {
      group_result result = write_group(writer_, *what);
      well_ = !result.storage_error;
      finished_(std::move(result));
      writer_.checkpoint_if_due();  // after the result went home: nobody waits for it
    }
  }

  std::optional<group> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return next_ || stopping_; });
    return std::exchange(next_, std::nullopt);
  }

  history_writer& writer_;
  unique_function<void(group_result)> finished_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<group> next_;
  bool stopping_ = false;
  bool well_ = true;  // the thread's own until it has been joined
  std::thread thread_;
};

using completion = unique_function<void(commit_error)>;

// Calls of `done` that are due, in order. If one throws, the others follow in a later turn and the exception goes on.
struct delivery {
  std::vector<std::pair<completion, commit_error>> due;
  std::size_t next = 0;
};

class sqlite_store final : public store {
 public:
  sqlite_store(const std::string& directory, durability level, loop& home)
      : home_(home),
        way_home_(home.handle()),
        dispatch_(home, *this),
        writer_(directory, level, home.where().files()),
        reader_(open_history_to_read(directory)),
        thread_(std::make_unique<writer_thread>(writer_, [this](group_result result) { come_home(std::move(result)); })) {}

  ~sqlite_store() override {
    const bool well = thread_->stop();
    // What waited is written here, after the thread's last group; not if that has failed and nobody has heard of it yet: then
    // nothing overtakes it. Nobody was told that it is durable, so nobody is told of a failure either.
    if (writing_ && !well) return;
    if (!queue_.empty() || alive_) {
      group rest = take_queue();
      write_group(writer_, rest);
    }
  }
  sqlite_store(const sqlite_store&) = delete;
  sqlite_store& operator=(const sqlite_store&) = delete;

  snapshot load() override { return reader_.load(); }

  void submit(batch what, completion done) override {
    ++statistics_.batches;
    for (run_record& record : what.runs) normalise(record);
    queue_.push_back({std::move(what), std::move(done)});
    arm_dispatch();
  }

  void alive(instant elapsed) override {
    alive_ = elapsed;
    arm_dispatch();
  }

  void visit_runs(const run_query& what, unique_function<bool(run_record)> visit) override {
    reader_.visit_runs(what, std::move(visit));
  }

  ledger::statistics statistics() const override { return statistics_; }

 private:
  struct waiting {
    batch what;
    completion done;
  };

  // In the timers phase of this turn, so that all batches of the turn share the sync, or when the pace allows the next. A sign
  // of life alone needs no sync.
  void arm_dispatch() {
    if (writing_ || dispatch_.armed()) return;
    dispatch_.arm(queue_.empty() ? home_.now() : std::max(home_.now(), pace_.earliest()));
  }

  void dispatch() {
    if (!queue_.empty()) {
      if (pace_.earliest() > home_.now()) return arm_dispatch();  // armed for a sign of life, then a batch came
      pace_.began(home_.now());
    }
    writing_.emplace(home_.hold());
    thread_->write(take_queue());
  }

  group take_queue() {
    group next{.batches = {}, .alive = std::exchange(alive_, std::nullopt)};
    next.batches.reserve(queue_.size());
    for (waiting& each : queue_) {
      next.batches.push_back(std::move(each.what));
      in_hand_.push_back(std::move(each.done));
    }
    queue_.clear();
    return next;
  }

  // On the writer's thread. The destructor waits for it, so `this` is there; the posted part looks.
  void come_home(group_result result) {
    way_home_.post([this, living = for_thread_, result = std::move(result)]() mutable {
      if (!living.expired()) finish(std::move(result));
    });
  }

  void finish(group_result result) {
    writing_.reset();
    if (result.written.synced) ++statistics_.commits;
    auto due = std::make_unique<delivery>();
    for (std::size_t i = 0; i < in_hand_.size(); ++i) due->due.emplace_back(std::move(in_hand_[i]), error_of(result, i));
    in_hand_.clear();
    if (result.storage_error) {
      // Nothing overtakes: what waited behind the failed group fails with it.
      for (waiting& each : queue_) due->due.emplace_back(std::move(each.done), error_of(result, 0));
      queue_.clear();
      if (due->due.empty()) ++statistics_.errors;  // a sign of life alone
    }
    if (!queue_.empty() || alive_) arm_dispatch();
    deliver(std::move(due));
  }

  static commit_error error_of(const group_result& result, std::size_t i) {
    if (result.storage_error) return {.failed = true, .message = *result.storage_error};
    if (const auto& refused = result.written.refused[i]) return {.failed = true, .message = *refused, .refused = true};
    return {};
  }

  void deliver(std::unique_ptr<delivery> what) {
    const std::weak_ptr<char> living = living_;
    while (what->next < what->due.size()) {
      auto& [done, error] = what->due[what->next++];
      if (error.failed) ++statistics_.errors;
      try {
        done(std::move(error));
      } catch (...) {
        if (!living.expired()) {
          home_.call_soon([this, living, what = std::move(what)]() mutable {
            if (!living.expired()) deliver(std::move(what));
          });
        }
        throw;
      }
      if (living.expired()) return;  // done() destroyed the store
    }
  }

  loop& home_;
  const loop_handle way_home_;
  const std::shared_ptr<char> living_ = std::make_shared<char>();  // what was posted looks whether the store is still there
  const std::weak_ptr<char> for_thread_ = living_;                 // copied by the writer's thread
  timer_of<&sqlite_store::dispatch> dispatch_;
  sync_pace pace_;
  ledger::statistics statistics_;
  std::vector<waiting> queue_;
  std::vector<completion> in_hand_;  // of the batches that are being written
  std::optional<instant> alive_;
  std::optional<loop_hold> writing_;  // a group is with the writer's thread
  history_writer writer_;             // used by thread_ while that lives
  history_reader reader_;
  std::unique_ptr<writer_thread> thread_;
};

// The history of a service that may be running: nothing is locked, nothing is written.
class sqlite_reader final : public store {
 public:
  explicit sqlite_reader(const std::string& directory) : reader_(open_history_to_read(directory)) {}

  snapshot load() override { return reader_.load(); }
  void submit(batch, completion) override { LOOPTASK_ASSERT(false, "submit() to a history that was opened to read"); }
  void alive(instant) override { LOOPTASK_ASSERT(false, "alive() on a history that was opened to read"); }
  void visit_runs(const run_query& what, unique_function<bool(run_record)> visit) override {
    reader_.visit_runs(what, std::move(visit));
  }
  ledger::statistics statistics() const override { return {}; }

 private:
  history_reader reader_;
};

}  // namespace

std::unique_ptr<store> open_sqlite_store(const std::string& directory, durability level, loop& home) {
  return std::make_unique<sqlite_store>(directory, level, home);
}

std::unique_ptr<store> open_sqlite_reader(const std::string& directory) { return std::make_unique<sqlite_reader>(directory); }

}  // namespace looptask::ledger
