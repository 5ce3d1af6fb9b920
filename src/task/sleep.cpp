#include <looptask/sleep.hpp>

namespace looptask::detail {

bool sleep_await::await_ready() noexcept {
  if (strikes_now()) return true;
  if (relative_) {
    const duration delay = deadline().time_since_epoch();
    if (delay <= duration::zero()) return spend();
    preset(where().after(delay));
    relative_ = false;
    return false;
  }
  return deadline() <= where().now() && spend();
}

void sleep_await::start() {
  bind(where());
  arm(relative_ ? where().now() : deadline());  // a delay of zero, when the turn's budget was spent
}

bool sleep_await::withdraw() noexcept {
  cancel();
  return true;
}

}  // namespace looptask::detail
