#pragma once
// A descriptor of a thread that may have a table of descriptors of its own: there a number is another file than in the rest of
// the process. Opened and closed by raw calls, because tools that follow the numbers (TSan) know of one table only. Any thread,
// one at a time.
//
//   raw_descriptor stat = raw_descriptor::open("/proc/1/stat");
//   if (!stat) return errno;
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace looptask {

class raw_descriptor {
 public:
  raw_descriptor() noexcept = default;
  explicit raw_descriptor(long fd) noexcept : fd_(static_cast<int>(fd)) {}
  raw_descriptor(raw_descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  raw_descriptor& operator=(raw_descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  raw_descriptor(const raw_descriptor&) = delete;
  raw_descriptor& operator=(const raw_descriptor&) = delete;
  ~raw_descriptor() {
    const int error = errno;  // of what the caller did with it
    if (fd_ >= 0) ::syscall(SYS_close, fd_);
    errno = error;
  }

  // For reading, close-on-exec; false, with errno, if that failed.
  static raw_descriptor open(const char* path, int more_flags = 0) noexcept {
    return raw_descriptor(::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | more_flags));
  }
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  // As read(2), but never EINTR.
  long read(void* to, std::size_t size) const noexcept {
    long got = 0;
    do {
      got = ::syscall(SYS_read, fd_, to, size);
    } while (got < 0 && errno == EINTR);
    return got;
  }

 private:
  int fd_ = -1;
};

}  // namespace looptask
