#pragma once
// The history of a data directory, as verbs look at it: to read, beside a service that runs or without one. Main thread.
//
//   const auto history = open_history(directory);  // throws ledger::no_history, or std::runtime_error that says what to do
#include <memory>
#include <string>

#include "ledger/ledger.hpp"

namespace looptask::cli {

std::unique_ptr<ledger::store> open_history(const std::string& directory);

}  // namespace looptask::cli
