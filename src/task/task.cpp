#include <looptask/task.hpp>

namespace looptask {

void detail::unawaited::ended() {
  const outcome<void> how = take_result();
  looptask::loop& where = loop();
  delete this;  // before the report: its handler finds nothing of the task
  if (!how.ok()) where.report(how.error());
}

void spawn(loop& where, task<void> work) { where.add_resident(*new detail::unawaited(where, nullptr, std::move(work))); }

}  // namespace looptask
