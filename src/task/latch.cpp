#include <looptask/latch.hpp>

namespace looptask {

void latch::count_down(std::size_t by) noexcept {
  LOOPTASK_ASSERT(by <= remaining_, "latch counted down below zero");
  remaining_ -= by;
  if (remaining_ == 0) reached_.set();
}

latch_statistics latch::statistics() const noexcept {
  const event_statistics waits = reached_.statistics();
  return {static_cast<const wait_statistics&>(waits), remaining_};
}

}  // namespace looptask
