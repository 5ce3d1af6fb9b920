#pragma once
// KILL to every process of given sessions and runs, again and again until none is left. On a thread of its own, because
// reading /proc takes milliseconds and dying takes as long as it takes; searches that are under way together share each
// reading. That thread has a table of descriptors of its own: that the process has run out of them does not keep it from
// killing. A second thread, with the table of the process, reports.
//
// No stranger is hit: a process is signalled through a pidfd, after its entry, read again, shows the same session and start
// time; a group, while one of it has just been seen so or while its leader is ours to reap; and a session without its leader
// is ours only on evidence, because its number may have been given away since. A process that may not be signalled (EPERM) or
// does not die within the bound is counted as left, and so is what could not be looked at.
//
// A reading of /proc misses a process that started during it, so the groups of what is found are stopped first: what keeps
// forking stands still for the next reading. A search ends after two readings in a row that show nothing alive.
//
//   process_sweeper sweeper(5s, [](std::uint64_t ticket, int killed, int left) { ... });  // called on the sweeper's thread
//   sweeper.begin({.ticket = 1, .sessions = {{pid, start_time}}});
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <looptask/function.hpp>

namespace looptask {

class process_sweeper {
 public:
  struct session {
    std::int32_t leader = 0;
    std::uint64_t start_time = 0;  // of the leader
    // Evidence for when the leader is gone: one of the members was started by `last_seen` (clock ticks after boot), when the
    // leader still held the number, or with `variable` ("NAME=value"; empty: none).
    std::uint64_t last_seen = 0;
    std::string variable{};
    bool unreaped = false;  // until the report the leader is a child of this process that nobody reaps
  };
  struct search {
    std::uint64_t ticket = 0;
    std::vector<session> sessions;
    std::vector<std::string> variables;  // "NAME=value": every process started with one of them
    std::optional<session> expected;     // a leader that is not counted as killed
  };
  using report = unique_function<void(std::uint64_t ticket, int killed, int left)>;

  // `bound`: how long one search goes on at most. std::system_error if no thread can be made.
  process_sweeper(std::chrono::milliseconds bound, report done);
  ~process_sweeper();  // joins; searches that are not over are dropped without a report
  process_sweeper(const process_sweeper&) = delete;
  process_sweeper& operator=(const process_sweeper&) = delete;

  void begin(search what);  // any thread

 private:
  struct answer {
    std::uint64_t ticket;
    int killed;
    int left;
  };
  void work();
  void tell();
  void stop() noexcept;
  void answer_with(answer what);
  std::optional<std::vector<search>> next(bool wait);  // nullopt: stop

  const std::chrono::milliseconds bound_;
  report done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable answered_;
  std::vector<search> waiting_;  // guarded
  std::vector<answer> answers_;  // guarded
  bool stopping_ = false;        // guarded
  std::thread teller_;           // the last members: they use all others
  std::thread thread_;
};

}  // namespace looptask
