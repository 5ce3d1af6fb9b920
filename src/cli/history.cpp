#include "cli/history.hpp"

#include <stdexcept>
#include <system_error>

#include "ledger/sqlite_connection.hpp"
#include "ledger/sqlite_store.hpp"

namespace looptask::cli {

std::unique_ptr<ledger::store> open_history(const std::string& directory) {
  const std::string path = directory + "/history.db";
  try {
    return ledger::open_sqlite_reader(directory);
  } catch (const ledger::sqlite_error& why) {
    if (why.no_database())
      throw std::runtime_error(path +
                               " is not a LoopTask history; choose another data directory with --data-dir, or move it away");
    if (!why.cannot_open() || why.system_error() == 0) throw;
    throw std::runtime_error("cannot open the history " + path + ": " + std::generic_category().message(why.system_error()) +
                             "; look at it as the service's user, or choose another data directory with --data-dir");
  }
}

}  // namespace looptask::cli
