#pragma once
// The embedded store: SQLite in WAL mode, one connection that writes and checkpoints, on a thread of its own. Readers are
// read-only connections that never checkpoint (a second writer or checkpointer could corrupt the file with this SQLite).
#include <memory>
#include <string>

#include "ledger/ledger.hpp"

namespace looptask::ledger {

enum class durability : std::uint8_t {
  full,    // survives power loss: synchronous=FULL, one sync per group of batches
  process  // survives kill -9: synchronous=NORMAL
};

// `directory` exists. Creates or opens history.db there. Throws std::runtime_error naming the file and what to do.
std::unique_ptr<store> open_sqlite_store(const std::string& directory, durability level, inbox& home);

// Read-only, without a lock, never checkpoints; works beside a running service and after a crash. submit() and alive() are
// misuse.
std::unique_ptr<store> open_sqlite_reader(const std::string& directory);

}  // namespace looptask::ledger
