#pragma once
// The file of the embedded history: its name, its schema (docs/history.md shows it in words), and what is checked when it is
// opened. Any thread; each returned connection is used by one thread at a time.
//
//   auto writer = open_history_to_write(directory, durability::full, host.files());
//   auto reader = open_history_to_read(directory);
#include <memory>
#include <string>

#include <looptask/host.hpp>

#include "ledger/sqlite_connection.hpp"
#include "ledger/sqlite_store.hpp"

namespace looptask::ledger {

// Creates the file if it is not there, with mode 0600 (also of -wal and -shm); one that is there keeps its mode. Throws
// std::runtime_error: path, what is wrong, what to do.
std::unique_ptr<connection> open_history_to_write(const std::string& directory, durability level, file_port& files);

// Throws no_history if there is none yet, else as above. Never writes to the database and never checkpoints.
std::unique_ptr<connection> open_history_to_read(const std::string& directory);

}  // namespace looptask::ledger
