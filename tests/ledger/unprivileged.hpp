#pragma once
// Runs a piece of a test as a user who may not override permissions.
#include <looptask/function.hpp>

#include <string>

namespace looptask::ledger {

// Runs `what` in a child process, as nobody if we are root, and returns the text it returned; an exception's text after
// "threw: ". The child has no other thread.
std::string as_nobody(unique_function<std::string()> what);

}  // namespace looptask::ledger
