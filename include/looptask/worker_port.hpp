#pragma once
// The port for threads: work that would block the loop goes to a pool of them (host::workers(); tasks use run_blocking).
//
// Owner: the loop's thread, but for worker_call::run() and what is said to come from any thread. A call is submitted once and
// shared by its owner and the port, so that either may let go first. Of run() and ended() neither may throw. What becomes of a
// call that its owner does not want any more is its owner's choice: withdraw, abandon, or join.
//
//   struct checksum final : worker_call { ... };           // run() computes, ended() tells who waits
//   auto call = std::make_shared<checksum>(path);
//   loop.where().workers().submit(call);
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/list.hpp>
#include <looptask/time.hpp>

namespace looptask {

struct worker_tag;

// One piece of blocking work: run() on a worker's thread, then ended() on the loop's. It is destroyed wherever the last that
// holds it lets go: on the loop's thread or on the worker's.
class worker_call : public list_node<worker_tag> {
 public:
  virtual ~worker_call() = default;
  virtual void run() noexcept = 0;                     // once
  virtual void ended() noexcept = 0;                   // not if it was withdrawn or abandoned, or if the loop has gone
  virtual std::string_view name() const noexcept = 0;  // for statistics; any thread

  // The port's own, under the port's lock.
  struct place {
    enum class stage : std::uint8_t { none, queued, running, abandoned, ended } at = stage::none;
    std::shared_ptr<worker_call> kept;  // by the port, as long as it is queued or runs
    monotonic_time since{};             // it runs
  } in_port;
};

struct worker_limits {
  std::size_t threads = 32;                  // at most; at least 1
  duration idle = std::chrono::seconds(10);  // after so long without work a thread ends
};

struct abandoned_call {
  std::string name;
  monotonic_time since{};  // when it began to run
};

struct worker_statistics {
  std::size_t threads = 0;  // all there are
  std::size_t idle = 0;     // of these, waiting for work
  std::size_t queued = 0;
  std::size_t running = 0;                // abandoned ones included
  std::vector<abandoned_call> abandoned;  // those that still run, in order of their start
};

// Threads for what would block the loop. There is none before the first call; there are more as calls wait, up to the limit;
// those without work end after a while. Calls begin in the order submitted. `sim::world` runs them on the loop's thread, at
// the end of a seeded virtual time.
class worker_port {
 public:
  virtual void limit(worker_limits how) = 0;  // threads above a new limit end when their call does
  // std::system_error if there is no thread and none can be made; then the call is as before.
  virtual void submit(std::shared_ptr<worker_call> call) = 0;
  // True: it had not begun and never will.
  virtual bool withdraw(worker_call& call) noexcept = 0;
  // True: it runs and goes on alone, listed until it has ended; the end of the loop does not wait for it. False: it is not
  // running; if it has ended, ended() comes.
  virtual bool abandon(worker_call& call) noexcept = 0;
  // Takes it out of the queue, or waits until run() has returned. Blocks the loop: for the end of what `call` refers to.
  virtual void join(worker_call& call) noexcept = 0;
  virtual worker_statistics statistics() const = 0;

 protected:
  ~worker_port() = default;
};

}  // namespace looptask
