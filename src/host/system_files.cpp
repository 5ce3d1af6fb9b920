#include "host/system_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>

#include "host/descriptor.hpp"
#include "host/system_call.hpp"

namespace looptask {
namespace {

class held_lock final : public file_port::lock {
 public:
  explicit held_lock(descriptor file) noexcept : file_(std::move(file)) {}

 private:
  descriptor file_;  // closing it releases the lock
};

// Never waits: the open of a FIFO would, until its other end is there. What has no end is not read at all.
descriptor open_regular(const std::string& path, int flags) {
  descriptor file(checked(::open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600), path.c_str()));
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) throw_errno(path);
  if (S_ISREG(found.st_mode)) return file;
  errno = S_ISDIR(found.st_mode) ? EISDIR : EINVAL;
  throw_errno(S_ISDIR(found.st_mode) ? path : path + " is not a regular file");
}

}  // namespace

std::string system_files::read(const std::string& path, std::size_t limit) {
  const descriptor file = open_regular(path, O_RDONLY);
  std::string all;
  std::array<char, std::size_t{16} * 1024> part;
  while (true) {
    const ssize_t size = ::read(file.get(), part.data(), part.size());
    if (size == 0) return all;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw_errno(path);
    if (static_cast<std::size_t>(size) > limit - all.size()) {
      errno = EFBIG;
      throw_errno(path);
    }
    all.append(part.data(), static_cast<std::size_t>(size));
  }
}

void system_files::append(const std::string& path, std::string_view bytes) {
  const descriptor file = open_regular(path, O_WRONLY | O_APPEND | O_CREAT);
  while (!bytes.empty()) {
    const ssize_t size = ::write(file.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw_errno(path);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

bool system_files::exists(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw_errno(path);
}

std::string system_files::absolute(const std::string& path) {
  if (!path.empty() && path.front() == '/') return path;
  std::string here(PATH_MAX, '\0');  // no working directory of Linux has a longer name
  if (::getcwd(here.data(), here.size()) == nullptr) throw_errno("working directory");
  here.resize(here.find('\0'));
  if (here.back() != '/') here += '/';
  return here + path;
}

void system_files::make_directories(const std::string& path, unsigned mode) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (part.empty() || ::mkdir(part.c_str(), static_cast<mode_t>(mode)) == 0) continue;
    struct stat found {};
    if (errno != EEXIST) throw_errno(part);
    if (::stat(part.c_str(), &found) != 0) throw_errno(part);
    if (S_ISDIR(found.st_mode)) continue;
    errno = ENOTDIR;
    throw_errno(part);
  }
}

// A service that was killed lets go of its lock only when it is dead, and so does a child of it that has not become its program
// yet. Both take moments, so a lock that is held gets a second look, and a few more.
std::unique_ptr<file_port::lock> system_files::try_lock(const std::string& path) {
  constexpr int looks = 200;
  constexpr timespec between{0, 10'000'000};
  descriptor file(checked(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), path.c_str()));
  for (int look = 1;; ++look) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return std::make_unique<held_lock>(std::move(file));
    if (errno != EWOULDBLOCK && errno != EINTR) throw_errno(path);
    if (look == looks) return nullptr;
    ::nanosleep(&between, nullptr);
  }
}

}  // namespace looptask
