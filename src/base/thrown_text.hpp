#pragma once
// The words of whatever was thrown, for logs and records. Pure, any thread.
//
//   try { work(); } catch (...) { why = thrown_text(std::current_exception()); }
#include <exception>
#include <string>

namespace looptask {

// what() as one line; "an exception without a text" for an empty one, "an exception that is no std::exception" for others.
std::string thrown_text(const std::exception_ptr& thrown);

}  // namespace looptask
