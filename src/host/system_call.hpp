#pragma once
// From the result of a system call to an exception: std::system_error with errno and the words of the caller.
#include <cerrno>
#include <string>
#include <system_error>

namespace looptask {

[[noreturn]] inline void throw_errno(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

// The result itself, unless it is negative.
inline int checked(int result, const char* what) {
  if (result < 0) throw_errno(what);
  return result;
}

}  // namespace looptask
