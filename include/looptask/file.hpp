#pragma once
// Files from a task, through the loop's pool of threads (docs/blocking.md), so that a slow disk does not hold up the loop.
//
// Owner: the loop's thread. Each call is one blocking call: a cancel point that is taken back while it is queued; once it runs,
// it is waited for, its result is delivered, and the cancellation strikes at the next await. Errors are std::system_error with
// the path. Only regular files are read and written: a FIFO or a device is EINVAL, a directory EISDIR. New files get mode 0600.
// Calls that are under way at the same time may come in any order.
//
//   std::string text = co_await looptask::read_file("/etc/hostname");
//   co_await looptask::write_file("/var/lib/x/state", text);       // all of it or nothing, also after a crash
//   looptask::file log = co_await looptask::open_file(path, looptask::file_mode::create);
//   co_await log.write_at(co_await log.size(), "more\n");
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <looptask/host.hpp>
#include <looptask/task.hpp>

namespace looptask {

using file_mode = file_port::open_mode;

// A file of more than `limit` bytes is EFBIG.
task<std::string> read_file(std::string path, std::size_t limit = file_port::default_read_limit);
// Puts `bytes` in the place of what the file was; whoever reads it finds all of the old or all of the new. An existing file
// keeps its permissions, a symbolic link stays one.
task<> write_file(std::string path, std::string bytes);
task<> append_file(std::string path, std::string bytes);  // creates it if there is none

class [[nodiscard]] file {
 public:
  file(file&& other) noexcept = default;
  file& operator=(file&& other) noexcept = default;
  ~file() = default;  // closes it; an error of that is lost

  const std::string& path() const noexcept { return path_; }
  // Up to `size` bytes from `position` on; fewer only where the file ends, none at its end.
  task<std::string> read_at(std::uint64_t position, std::size_t size);
  task<> write_at(std::uint64_t position, std::string bytes);
  task<std::uint64_t> size();
  task<> sync();   // what was written survives a crash of the machine
  task<> close();  // throws what a late write has met; afterwards every call is misuse

 private:
  friend task<file> open_file(std::string path, file_mode how);
  file(std::shared_ptr<file_port::open_file> opened, std::string path) noexcept
      : opened_(std::move(opened)), path_(std::move(path)) {}
  const std::shared_ptr<file_port::open_file>& opened() const noexcept;

  std::shared_ptr<file_port::open_file> opened_;  // shared with calls under way
  std::string path_;
};

// `how`: read; write (and read) what exists; or create what does not.
task<file> open_file(std::string path, file_mode how);

}  // namespace looptask
