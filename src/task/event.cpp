#include <looptask/event.hpp>

namespace looptask {

void event::set() noexcept {
  set_ = true;
  while (waiter* const next = waiters_.front()) waiters_.wake(*next);
}

void event::wait_await::start() {
  if (of_.set_) return complete();  // the turn's budget was spent
  enter();
}

}  // namespace looptask
