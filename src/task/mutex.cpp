#include <looptask/mutex.hpp>

namespace looptask {

std::optional<mutex::guard> mutex::try_lock() noexcept {
  if (!take()) return std::nullopt;
  return guard(*this);
}

void mutex::lock_await::start() {
  if (of_.take()) return complete();  // the turn's budget was spent, the mutex not locked
  enter();
}

}  // namespace looptask
