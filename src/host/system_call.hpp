#pragma once
// From the result of a system call to an exception: std::system_error with errno and the words of the caller. And read(2) that
// goes on after a signal.
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

namespace looptask {

[[noreturn]] inline void throw_errno(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

// The result itself, unless it is negative.
inline int checked(int result, const char* what) {
  if (result < 0) throw_errno(what);
  return result;
}

// As read(2), but never EINTR.
inline ssize_t read_some(int fd, void* to, std::size_t size) noexcept {
  ssize_t got = 0;
  do {
    got = ::read(fd, to, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace looptask
