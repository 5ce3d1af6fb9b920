#pragma once
// The file of the embedded history: its name, its schema (docs/history.md shows it in words), and what is checked when it is
// opened. Any thread; each returned connection is used by one thread at a time.
//
//   auto writer = open_history_to_write(directory, durability::full);
//   auto reader = open_history_to_read(directory);
#include <memory>
#include <string>

#include "ledger/sqlite_connection.hpp"
#include "ledger/sqlite_store.hpp"

namespace looptask::ledger {

// Creates the file if it is not there. Throws std::runtime_error: path, what is wrong, what to do.
std::unique_ptr<connection> open_history_to_write(const std::string& directory, durability level);

// Throws no_history if there is none yet, else as above. Never writes to the database and never checkpoints.
std::unique_ptr<connection> open_history_to_read(const std::string& directory);

}  // namespace looptask::ledger
