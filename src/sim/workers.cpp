#include "sim/workers.hpp"

#include <algorithm>
#include <chrono>

namespace looptask::sim {
namespace {

using stage = worker_call::place::stage;

constexpr duration shortest = std::chrono::microseconds(50);
constexpr duration longest = std::chrono::milliseconds(5);

}  // namespace

void virtual_workers::limit(worker_limits how) {
  LOOPTASK_ASSERT(how.threads > 0, "a pool of workers needs at least one thread");
  limits_ = how;
  begin_more();
}

void virtual_workers::submit(std::shared_ptr<worker_call> call) {
  LOOPTASK_ASSERT(home_ != nullptr, "workers need a loop: attach() first");
  LOOPTASK_ASSERT(call->in_port.at == stage::none, "a worker_call is submitted once");
  call->in_port.at = stage::queued;
  call->in_port.kept = call;
  queue_.push_back(*call);
  ++queued_;
  begin_more();
}

void virtual_workers::begin_more() {
  while (running_.size() < limits_.threads) {
    worker_call* const next = queue_.pop_front();
    if (next == nullptr) return;
    --queued_;
    const auto spread = static_cast<std::uint64_t>((longest - shortest).count());
    const duration takes = shortest + duration(static_cast<duration::rep>(chance_.next() % (spread + 1)));
    next->in_port.at = stage::running;
    next->in_port.since = clock_.monotonic();
    running_.push_back({std::move(next->in_port.kept), plan_.add(now_ + takes, rank::ordinary, [this, next] { end(*next); })});
  }
}

std::shared_ptr<worker_call> virtual_workers::take(worker_call& call) noexcept {
  const auto found =
      std::find_if(running_.begin(), running_.end(), [&call](const under_way& one) { return one.call.get() == &call; });
  if (found == running_.end()) return nullptr;
  plan_.remove(found->end);
  std::shared_ptr<worker_call> taken = std::move(found->call);
  running_.erase(found);
  return taken;
}

void virtual_workers::end(worker_call& call) {
  std::shared_ptr<worker_call> kept = take(call);
  call.run();
  const bool awaited = call.in_port.at == stage::running;
  call.in_port.at = stage::ended;
  if (awaited) home_->post([kept = std::move(kept)] { kept->ended(); });
  begin_more();
}

bool virtual_workers::withdraw(worker_call& call) noexcept {
  if (call.in_port.at != stage::queued) return false;
  call.unlink();
  --queued_;
  call.in_port.at = stage::none;
  const std::shared_ptr<worker_call> dropped = std::move(call.in_port.kept);
  return true;
}

bool virtual_workers::abandon(worker_call& call) noexcept {
  if (call.in_port.at != stage::running) return false;
  call.in_port.at = stage::abandoned;
  return true;
}

void virtual_workers::join(worker_call& call) noexcept {
  if (withdraw(call)) return;
  if (const std::shared_ptr<worker_call> kept = take(call)) {
    call.run();
    call.in_port.at = stage::ended;
  }
}

worker_statistics virtual_workers::statistics() const {
  worker_statistics now;
  now.threads = now.running = running_.size();
  now.queued = queued_;
  for (const under_way& one : running_) {
    if (one.call->in_port.at == stage::abandoned)
      now.abandoned.push_back({std::string(one.call->name()), one.call->in_port.since});
  }
  return now;
}

void virtual_workers::crash() noexcept {
  while (worker_call* const next = queue_.front()) withdraw(*next);
  while (!running_.empty()) {
    const std::shared_ptr<worker_call> dropped = take(*running_.back().call);
    dropped->in_port.at = stage::ended;
  }
}

void virtual_workers::detach() noexcept {
  while (worker_call* const next = queue_.front()) withdraw(*next);
  while (!running_.empty()) {
    worker_call& next = *running_.front().call;
    if (next.in_port.at == stage::running) {
      join(next);
    } else {
      const std::shared_ptr<worker_call> dropped = take(next);
    }
  }
  home_ = nullptr;
}

}  // namespace looptask::sim
