#pragma once
// An open file descriptor with one owner; closed with it. Any thread, one at a time.
//
//   descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
//   if (!input) throw ...;
#include <unistd.h>

#include <utility>

namespace looptask {

class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }  // the caller closes it
  // Linux frees the number even when close() reports an error, so there is nothing to repeat.
  void reset() noexcept {
    if (const int fd = std::exchange(fd_, -1); fd >= 0) ::close(fd);
  }

 private:
  int fd_ = -1;
};

}  // namespace looptask
