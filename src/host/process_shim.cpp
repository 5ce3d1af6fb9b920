#include "host/process_shim.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <mutex>

#include "host/system_call.hpp"

namespace looptask {
namespace {

// The last one keeps the array from being empty where there is no shim.
constexpr unsigned char image[] = {
#include "host/shim_image.inc"
    0};
constexpr std::size_t image_size = sizeof image - 1;

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Kernels since 6.3 want to be told whether it is a program, and may forbid it; older ones do not know the flag.
int make_memory_file() noexcept {
  constexpr unsigned executable = 0x10;  // MFD_EXEC, missing from older headers
  const int fd = ::memfd_create("looptask-shim", MFD_CLOEXEC | MFD_ALLOW_SEALING | executable);
  if (fd >= 0 || errno != EINVAL) return fd;
  return ::memfd_create("looptask-shim", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

descriptor make_program() noexcept {
  descriptor file(make_memory_file());
  // Above the numbers that a child overwrites with its own.
  constexpr int lowest = shim_protocol::channel + 2;
  if (file && file.get() < lowest) file = descriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, lowest));
  for (std::size_t done = 0; file && done < image_size;) {
    const ssize_t written = ::write(file.get(), image + done, image_size - done);
    if (written > 0)
      done += static_cast<std::size_t>(written);
    else if (errno != EINTR)
      return {};
  }
  if (file && ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return {};
  return file;
}

milliseconds left_until(steady::time_point until) {
  return std::max(std::chrono::ceil<milliseconds>(until - steady::now()), milliseconds::zero());
}

}  // namespace

int shim_program() noexcept {
  static std::mutex making;
  static int program = -1;  // never closed: it is the process's
  const std::lock_guard lock(making);
  if (program >= 0) return program;
  if (image_size == 0) {
    errno = ENOSYS;
    return -1;
  }
  descriptor made = make_program();
  if (made) program = made.release();
  return program;
}

shim_line::delivery shim_line::ask(shim_protocol::wish what, std::int32_t value) const noexcept {
  const shim_protocol::request asked{what, value};
  ssize_t sent = 0;
  do {
    sent = ::send(channel_.get(), &asked, sizeof asked, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return delivery::sent;
  return errno == EAGAIN ? delivery::deaf : delivery::gone;
}

shim_line::heard shim_line::read(shim_protocol::report& into) const noexcept {
  // A shim that ends with a wish unread leaves that as an error before what it has said.
  ssize_t got = 0;
  do {
    got = ::recv(channel_.get(), &into, sizeof into, MSG_DONTWAIT);
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got == static_cast<ssize_t>(sizeof into)) return heard::news;
  return got < 0 && errno == EAGAIN ? heard::nothing : heard::end;
}

shim_line::heard shim_line::wait(shim_protocol::report& into, std::optional<milliseconds> bound) const noexcept {
  const steady::time_point until = steady::now() + bound.value_or(milliseconds::zero());
  while (true) {
    const heard now = read(into);
    if (now != heard::nothing) return now;
    const milliseconds left = left_until(until);
    if (bound && left == milliseconds::zero()) return heard::nothing;
    pollfd readable{channel_.get(), POLLIN, 0};
    ::poll(&readable, 1, bound ? static_cast<int>(left.count()) : -1);
  }
}

bool shim_line::wait_for_end(milliseconds bound) const noexcept {
  const steady::time_point until = steady::now() + bound;
  shim_protocol::report unused;
  while (true) {
    const heard now = wait(unused, left_until(until));
    if (now != heard::news || unused.what == shim_protocol::news::stays) return now == heard::end;
  }
}

void shim_line::kill() const noexcept {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void shim_line::end_tree() noexcept {
  constexpr milliseconds bound(5000);
  ask(shim_protocol::wish::kill, static_cast<std::int32_t>(bound.count()));
  if (!wait_for_end(bound + bound / 5)) kill();
  bury();
}

bool shim_line::bury() noexcept {
  siginfo_t how{};
  int got = 0;
  do {
    got = ::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED);
  } while (got != 0 && errno == EINTR);
  pid_ = 0;
  channel_.reset();
  return got == 0 && how.si_code == CLD_EXITED && how.si_status == 0;
}

}  // namespace looptask
