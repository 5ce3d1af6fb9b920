#pragma once
// The threads on which blocking work runs: the worker_port of real_host.
//
// Owner: the loop's thread; the threads of the pool share its inside and come home through the inbox. Invariants: a thread is
// made only if a call waits and no thread is without work, so that there are never more than calls at one time; what waits is
// taken first in, first out, and given to the thread that had work last, so that the others may end. Threads take no signals.
// Nothing of the port is reached by a thread after detach(), but for those that run an abandoned call: they are left behind,
// keep the inside of the pool alive, and end with their call.
//
//   system_workers workers(clock);
//   workers.attach(loop);
//   workers.submit(call);          // call->run() on a worker, then call->ended() here
//   workers.detach();
#include <memory>

#include <looptask/host.hpp>

namespace looptask {

class system_workers final : public worker_port {
 public:
  explicit system_workers(const clock_port& clock) noexcept : clock_(clock) {}  // readable from any thread
  ~system_workers();
  system_workers(const system_workers&) = delete;
  system_workers& operator=(const system_workers&) = delete;

  void attach(inbox& home);  // starts no thread
  void detach() noexcept;

  void limit(worker_limits how) override;
  void submit(std::shared_ptr<worker_call> call) override;
  bool withdraw(worker_call& call) noexcept override;
  bool abandon(worker_call& call) noexcept override;
  void join(worker_call& call) noexcept override;
  worker_statistics statistics() const override;

 private:
  class pool;
  const clock_port& clock_;
  worker_limits limits_;
  std::shared_ptr<pool> pool_;  // while attached; shared with its threads
};

}  // namespace looptask
