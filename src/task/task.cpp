#include <looptask/task.hpp>

namespace looptask {

void detail::unawaited::ended() {
  const outcome<void> how = take_result();
  looptask::loop& where = loop();
  if (!how.ok() && debugging()) report_unawaited(origin_of(*this), how.error());
  delete this;  // before the report: its handler finds nothing of the task
  if (!how.ok()) where.report(how.error());
}

void spawn(loop& where, task<void> work, source_place by) {
  auto* const made = new detail::unawaited(where, nullptr, std::move(work));
  if (detail::debugging()) detail::note_started(*made, by);
  where.add_resident(*made);
}

}  // namespace looptask
