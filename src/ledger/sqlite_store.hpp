#pragma once
// The embedded store: SQLite in WAL mode, one connection that writes and checkpoints, on a thread of its own. Readers are
// read-only connections that never checkpoint (a second writer or checkpointer could corrupt the file with this SQLite).
//
// What can fail when it is opened is thrown: another program's database, a newer schema, damage, a file that may not be
// written. What fails later comes back through `done`, with the system's reason. The file is described in docs/history.md.
//
//   auto store = open_sqlite_store(data_directory, durability::full, loop);
//   auto reader = open_sqlite_reader(data_directory);  // in another process, at any time
#include <memory>
#include <stdexcept>
#include <string>

#include <looptask/loop.hpp>

#include "ledger/ledger.hpp"

namespace looptask::ledger {

enum class durability : std::uint8_t {
  full,    // survives power loss: synchronous=FULL, one sync per group of batches
  process  // survives kill -9: synchronous=NORMAL
};

// There is nothing to read: no service has run on this data directory yet.
class no_history : public std::runtime_error {
 public:
  explicit no_history(const std::string& path)
      : std::runtime_error(path + ": there is no history yet; `looptask run` begins one (is it the right data directory?)") {}
};

// `directory` exists; the store is destroyed before `home`, which goes on while something is being written. Creates or opens
// history.db there. Throws std::runtime_error naming the file and what to do.
std::unique_ptr<store> open_sqlite_store(const std::string& directory, durability level, loop& home);

// Read-only, without a lock, never checkpoints; works beside a running service and after a crash. submit() and alive() are
// misuse. Throws no_history, or std::runtime_error as above.
std::unique_ptr<store> open_sqlite_reader(const std::string& directory);

}  // namespace looptask::ledger
