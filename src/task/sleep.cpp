#include <looptask/sleep.hpp>

namespace looptask::detail {

bool sleep_await::await_ready() noexcept {
  if (strikes_now()) return true;
  if (relative_) {
    const duration delay = until_.time_since_epoch();
    if (delay <= duration::zero()) return spend();
    until_ = where().after(delay);
    return false;
  }
  return until_ <= where().now() && spend();
}

void sleep_await::start() {
  bind(where());
  arm(until_);
}

bool sleep_await::withdraw() noexcept {
  cancel();
  return true;
}

}  // namespace looptask::detail
