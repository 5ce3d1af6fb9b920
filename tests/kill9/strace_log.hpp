#pragma once
// Reads what `strace -f -y -v -o FILE` wrote, as far as it tells whether a start was durable before its process existed.
// Lines stand in the order in which the kernel's stops were seen; a call that another thread interrupts stands twice, where it
// began and where it ended.
#include <cstddef>
#include <string>
#include <vector>

namespace looptask::tests {

struct traced_spawn {
  std::string run_id;
  bool claimed = false;  // the run's id was written to the history's log before the spawn began
  bool synced = false;   // and a sync of that log that began after the write ended before the spawn began
};

struct traced_service {
  std::vector<traced_spawn> spawns;  // of processes with a LOOPTASK_RUN_ID, first exec of each run and attempt
  std::size_t syncs = 0;             // of the history's log
};

// `log_name`: the end of the log's path, as "-wal".
traced_service read_strace(const std::string& text, const std::string& log_name);

}  // namespace looptask::tests
