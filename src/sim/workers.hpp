#pragma once
// The workers of a simulated world: calls run on the loop's thread, one after another, each at the end of a seeded virtual time
// between 50 us and 5 ms. As many as the limit says are under way at once; the others wait in a queue.
//
// Owner: the thread of the world. A loop that goes lets what is under way and not abandoned end at once, as the real one waits
// for it; what was abandoned or queued never runs. After a crash nothing runs any more. There are as many threads as calls
// under way, and none is ever idle.
//
//   virtual_workers workers(world_agenda, seed, [] { return now; });
//   workers.attach(home);
#include <memory>
#include <utility>

#include <looptask/host.hpp>

#include "sim/agenda.hpp"
#include "sim/random.hpp"

namespace looptask::sim {

class virtual_workers final : public worker_port {
 public:
  // `now`: the virtual time; `clock`: what abandoned calls are dated by.
  virtual_workers(agenda& plan, std::uint64_t seed, const duration& now, const clock_port& clock) noexcept
      : plan_(plan), chance_(seed), now_(now), clock_(clock) {}
  ~virtual_workers() { detach(); }
  virtual_workers(const virtual_workers&) = delete;
  virtual_workers& operator=(const virtual_workers&) = delete;

  void attach(inbox& home) noexcept { home_ = &home; }
  void crash() noexcept;  // whatever is queued or under way is dropped without running
  void detach() noexcept;

  void limit(worker_limits how) override;
  void submit(std::shared_ptr<worker_call> call) override;
  bool withdraw(worker_call& call) noexcept override;
  bool abandon(worker_call& call) noexcept override;
  void join(worker_call& call) noexcept override;
  worker_statistics statistics() const override;

 private:
  struct under_way {
    std::shared_ptr<worker_call> call;
    agenda::entry end;
  };
  void begin_more();
  void end(worker_call& call);
  std::shared_ptr<worker_call> take(worker_call& call) noexcept;  // out of what is under way

  agenda& plan_;
  seeded_random chance_;
  const duration& now_;
  const clock_port& clock_;
  inbox* home_ = nullptr;
  worker_limits limits_;
  list<worker_call, worker_tag> queue_;
  std::size_t queued_ = 0;
  std::vector<under_way> running_;  // in order of their start
};

}  // namespace looptask::sim
