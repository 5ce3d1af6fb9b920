#include "host/system_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdlib>

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

void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw_errno(path);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

// Where the file itself is, so that a link to it stays a link.
std::string behind_links(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  if (::realpath(path.c_str(), real.data()) != nullptr) return real.data();
  if (errno != ENOENT) throw_errno(path);
  return path;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Beside the file that it will replace; gone unless it has.
class successor {
 public:
  explicit successor(const std::string& of) : of_(of), name_(of + ".XXXXXX") {
    file_ = descriptor(::mkostemp(name_.data(), O_CLOEXEC));
    if (!file_) throw_errno(of_);
  }
  successor(const successor&) = delete;
  successor& operator=(const successor&) = delete;
  ~successor() {
    if (!placed_) ::unlink(name_.c_str());
  }

  int get() const noexcept { return file_.get(); }
  void place() {
    if (::fsync(file_.get()) != 0 || ::rename(name_.c_str(), of_.c_str()) != 0) throw_errno(of_);
    placed_ = true;
    const descriptor folder(::open(folder_of(of_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || ::fsync(folder.get()) != 0) throw_errno(of_);
  }

 private:
  const std::string of_;
  std::string name_;
  descriptor file_;
  bool placed_ = false;
};

class opened final : public file_port::open_file {
 public:
  opened(descriptor file, std::string path) noexcept : file_(std::move(file)), path_(std::move(path)) {}

  std::string read_at(std::uint64_t position, std::size_t size) override {
    std::string all;
    std::array<char, std::size_t{16} * 1024> part;
    while (all.size() < size) {
      const std::size_t wanted = std::min(part.size(), size - all.size());
      const ssize_t got = ::pread(file_.get(), part.data(), wanted, at(position + all.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_errno(path_);
      if (got == 0) break;
      all.append(part.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  void write_at(std::uint64_t position, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t size = ::pwrite(file_.get(), bytes.data(), bytes.size(), at(position));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) throw_errno(path_);
      bytes.remove_prefix(static_cast<std::size_t>(size));
      position += static_cast<std::uint64_t>(size);
    }
  }
  std::uint64_t size() override {
    struct stat found {};
    if (::fstat(file_.get(), &found) != 0) throw_errno(path_);
    return static_cast<std::uint64_t>(found.st_size);
  }
  void sync() override {
    if (::fsync(file_.get()) != 0) throw_errno(path_);
  }
  void close() override {
    if (::close(file_.release()) != 0 && errno != EINTR) throw_errno(path_);
  }

 private:
  // The kernel refuses a negative position (EINVAL).
  static off_t at(std::uint64_t position) noexcept { return static_cast<off_t>(position); }

  descriptor file_;
  const std::string path_;
};

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
  write_all(file.get(), bytes, path);
}

void system_files::replace(const std::string& path, std::string_view bytes) {
  const std::string place = behind_links(path);
  struct stat before {};
  const bool exists = ::stat(place.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode)) {
    errno = S_ISDIR(before.st_mode) ? EISDIR : EINVAL;
    throw_errno(S_ISDIR(before.st_mode) ? path : path + " is not a regular file");
  }
  successor next(place);
  if (exists && ::fchmod(next.get(), before.st_mode & 07777U) != 0) throw_errno(path);
  write_all(next.get(), bytes, path);
  next.place();
}

std::unique_ptr<file_port::open_file> system_files::open(const std::string& path, open_mode how) {
  const int flags = how == open_mode::read ? O_RDONLY : how == open_mode::write ? O_RDWR : O_RDWR | O_CREAT;
  return std::make_unique<opened>(open_regular(path, flags), path);
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
