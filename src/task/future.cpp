#include <looptask/future.hpp>

#include <atomic>

namespace looptask::detail {

loop_handle future_state_base::share() noexcept {
  assert_owner();
  shared_ = true;
  return home_.handle();
}

void future_state_base::add_owner_shared() noexcept { std::atomic_ref(owners_).fetch_add(1, std::memory_order_relaxed); }

// What the others did to the state happens before the last one frees it.
bool future_state_base::drop_owner_shared() noexcept {
  return std::atomic_ref(owners_).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void future_state_base::settle() noexcept {
  settled_ = true;
  if (waits_ != nullptr) std::exchange(waits_, nullptr)->complete();
}

bool future_wait::await_ready() noexcept {
  waits_at_.assert_owner();
  LOOPTASK_ASSERT(waits_at_.waits_ == nullptr, "future awaited by two tasks at once");
  if (strikes_now()) return true;
  return waits_at_.settled_ && spend();
}

void future_wait::start() {
  if (waits_at_.settled_) return complete();  // the turn's budget was spent
  waits_at_.waits_ = this;
}

bool future_wait::withdraw() noexcept {
  waits_at_.waits_ = nullptr;
  return true;
}

}  // namespace looptask::detail
