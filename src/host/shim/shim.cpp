// The guard of one child and of everything that comes from it: a program of a few kilobytes without a C library, kept in the
// library as bytes and started from memory. It is the parent of the program and the reaper of its orphans
// (PR_SET_CHILD_SUBREAPER), so whatever leaves the session of the program, or is forked away from it, stays below the shim.
// What it is told and what it answers: protocol.hpp.
//
// All signals are blocked: only KILL ends it. It has one thread, allocates one table when it has to kill, and leaves the
// session and the groups of others alone.
//
// Nothing alive is left exactly when the kernel says that the shim has no child: what lives has a parent that lives or is the
// shim. Readings of /proc tell whom to kill, never that there is nobody. No stranger is hit: a process is signalled by a pidfd
// after its entry, read again, is the same one; a group, while one of it has just been seen so or lies unreaped before us.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "host/shim/kernel.hpp"
#include "host/shim/protocol.hpp"

// What a compiler may call without being asked.
extern "C" {
void* memset(void* to, int byte, std::size_t size);
void* memcpy(void* to, const void* from, std::size_t size);
[[noreturn]] void shim_main(long* stack);
}

void* memset(void* to, int byte, std::size_t size) {
  for (volatile char* at = static_cast<char*>(to); size > 0; --size) *at++ = static_cast<char>(byte);
  return to;
}

void* memcpy(void* to, const void* from, std::size_t size) {
  const char* source = static_cast<const char*>(from);
  for (volatile char* at = static_cast<char*>(to); size > 0; --size) *at++ = *source++;
  return to;
}

namespace looptask {
namespace {

using shim_protocol::channel;
using shim_protocol::news;
using shim_protocol::report;
using shim_protocol::request;
using shim_protocol::step;
using shim_protocol::wish;

constexpr std::size_t mask_size = 8;
constexpr std::int64_t pause = 20;       // milliseconds that the dying get before the next reading of /proc
constexpr std::int64_t short_pause = 1;  // and when nobody is known to be dying

[[noreturn]] void end(int status) noexcept {
  while (true) kernel(__NR_exit_group, status);
}

void tell(const report& what) noexcept {
  kernel(__NR_sendto, channel, &what, sizeof what, MSG_NOSIGNAL | MSG_DONTWAIT);  // nobody hears it: the end says the same
}

std::int64_t now() noexcept {
  timespec time{};
  kernel(__NR_clock_gettime, CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

// ---- the child, between the fork and its program ----

struct birth {
  const char* workdir;
  const char* path;
  char* const* argv;
  char* const* envp;
  volatile step where;
  volatile int error;  // 0: it became its program, or died before
};

[[noreturn]] void give_up(birth& plan, step where, long result) noexcept {
  plan.where = where;
  plan.error = static_cast<int>(-result);
  end(127);
}

[[noreturn, gnu::noinline]] void become(birth& plan) noexcept {
  report me;
  me.what = news::born;
  me.pid = static_cast<std::int32_t>(kernel(__NR_getpid));
  tell(me);
  if (const long session = kernel(__NR_setsid); session < 0) give_up(plan, step::session, session);
  // Before the first step that may hang: the channel is the shim's alone.
  if (const long closed = kernel(__NR_close_range, channel, ~0U, 0); closed < 0) give_up(plan, step::descriptors, closed);
  if (const long moved = kernel(__NR_chdir, plan.workdir); moved < 0) give_up(plan, step::workdir, moved);
  const std::uint64_t nothing = 0;
  if (const long unblocked = kernel(__NR_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, mask_size); unblocked < 0)
    give_up(plan, step::signals, unblocked);
  give_up(plan, step::exec, kernel(__NR_execve, plan.path, plan.argv, plan.envp));
}

// A frame of its own: the child runs below it while the shim stands still. Only because the child shares this small memory is
// its peak its own.
[[gnu::noinline]] long start(birth& plan) noexcept {
  constexpr unsigned share_and_wait = 0x4000U | 0x100U;  // CLONE_VFORK, CLONE_VM
  const long pid = kernel(__NR_clone, share_and_wait | static_cast<unsigned>(SIGCHLD), nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) become(plan);
  return pid;
}

// ---- /proc ----

struct process {
  std::int32_t pid;
  std::int32_t parent;
  std::int32_t group;
  char state;
  bool ours;
  std::uint64_t start_time;
};

std::uint64_t number(const char*& at) noexcept {
  std::uint64_t value = 0;
  while (*at >= '0' && *at <= '9') value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
  return value;
}

void skip_fields(const char*& at, int count) noexcept {
  for (; count > 0; --count) {
    while (*at != ' ' && *at != '\0') ++at;
    while (*at == ' ') ++at;
  }
}

bool read_process(std::int32_t pid, process& entry) noexcept {
  char path[32] = "/proc/";
  char* end_of_path = path + 6;
  char digits[12];
  int count = 0;
  for (std::int32_t rest = pid; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) *end_of_path++ = digits[--count];
  for (const char* tail = "/stat"; *tail != '\0'; ++tail) *end_of_path++ = *tail;
  *end_of_path = '\0';
  const long file = kernel(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[1024];
  const long size = kernel(__NR_read, file, text, sizeof text - 1);
  kernel(__NR_close, file);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* at = text + size;
  while (at > text && *at != ')') --at;  // the name before it may hold anything
  if (*at != ')') return false;
  skip_fields(at, 1);
  entry.pid = pid;
  entry.state = *at;
  skip_fields(at, 1);
  entry.parent = static_cast<std::int32_t>(number(at));
  skip_fields(at, 1);
  entry.group = static_cast<std::int32_t>(number(at));
  skip_fields(at, 17);  // to field 22
  entry.start_time = number(at);
  return true;
}

class process_table {
 public:
  // False: /proc cannot be read, or there is no memory for it.
  bool read(std::int32_t self) noexcept {
    size_ = 0;
    const long folder = kernel(__NR_openat, AT_FDCWD, "/proc", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (folder < 0) return false;
    const bool whole = read_all(folder);
    kernel(__NR_close, folder);
    if (whole) mark_descendants(self);
    return whole;
  }
  process* begin() noexcept { return items_; }
  process* end() noexcept { return items_ + size_; }

 private:
  bool read_all(long folder) noexcept {
    alignas(std::uint64_t) char names[4096];
    constexpr std::size_t length_place = 16;  // of d_reclen and d_name in the kernel's linux_dirent64
    constexpr std::size_t name_place = 19;
    while (true) {
      const long size = kernel(__NR_getdents64, folder, names, sizeof names);
      if (size <= 0) return size == 0;
      for (long at = 0; at < size;) {
        const char* const item = names + at;
        std::uint16_t length = 0;
        memcpy(&length, item + length_place, sizeof length);
        at += length;
        const char* name = item + name_place;
        const auto pid = static_cast<std::int32_t>(number(name));
        if (pid <= 0 || *name != '\0') continue;
        if (size_ == room_ && !grow()) return false;
        if (read_process(pid, items_[size_])) ++size_;
      }
    }
  }

  bool grow() noexcept {
    const std::size_t more = room_ == 0 ? 1024 : room_ * 2;
    const long made =
        room_ == 0 ? kernel(__NR_mmap, nullptr, more * sizeof(process), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1)
                   : kernel(__NR_mremap, items_, room_ * sizeof(process), more * sizeof(process), MREMAP_MAYMOVE);
    if (made < 0 && made > -4096) return false;
    items_ = reinterpret_cast<process*>(made);  // NOLINT(performance-no-int-to-ptr): the kernel's answer
    room_ = more;
    return true;
  }

  // /proc is listed by pid, ascending.
  const process* find(std::int32_t pid) const noexcept {
    std::size_t from = 0;
    for (std::size_t to = size_; from < to;) {
      const std::size_t middle = from + (to - from) / 2;
      if (items_[middle].pid < pid)
        from = middle + 1;
      else
        to = middle;
    }
    return from < size_ && items_[from].pid == pid ? items_ + from : nullptr;
  }

  // A parent may have the greater pid, once the numbers have begun anew.
  void mark_descendants(std::int32_t self) noexcept {
    for (process& one : *this) one.ours = one.parent == self;
    for (bool again = true; again;) {
      again = false;
      for (process& one : *this) {
        if (one.ours || one.pid == self) continue;
        const process* const parent = find(one.parent);
        if (parent == nullptr || !parent->ours) continue;
        one.ours = again = true;
      }
    }
  }

  process* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

// ---- the guard ----

class guard {
 public:
  explicit guard(bool end_with_owner) noexcept
      : end_with_owner_(end_with_owner),
        self_(static_cast<std::int32_t>(kernel(__NR_getpid))),
        group_(static_cast<std::int32_t>(kernel(__NR_getpgid, 0))) {
    const std::uint64_t children = std::uint64_t{1} << static_cast<unsigned>(SIGCHLD - 1);
    constexpr int flags = O_CLOEXEC | O_NONBLOCK;  // as those of signalfd4
    deaths_ = static_cast<int>(kernel(__NR_signalfd4, -1, &children, mask_size, flags));
  }

  // The error of the kernel if there can be no guard.
  long failure() const noexcept { return deaths_ < 0 ? deaths_ : 0; }

  [[noreturn]] void watch(std::int32_t main) noexcept {
    main_ = main;
    while (true) {
      reap();
      end_if_alone();
      pollfd ready[] = {{deaths_, POLLIN, 0}, {owner_gone_ ? -1 : channel, POLLIN, 0}};
      kernel(__NR_ppoll, ready, 2, nullptr, nullptr, mask_size);
      forget_deaths();
      if (ready[1].revents != 0) listen();
    }
  }

 private:
  void forget_deaths() const noexcept {
    char told[1024];
    while (kernel(__NR_read, deaths_, told, sizeof told) > 0) {
    }
  }

  void end_if_alone() noexcept {
    if (alone_) end(0);
  }

  void listen() noexcept {
    request asked;
    const long got = kernel(__NR_recvfrom, channel, &asked, sizeof asked, MSG_DONTWAIT, nullptr);
    if (got == -EAGAIN || got == -EINTR) return;
    if (got != static_cast<long>(sizeof asked)) {  // whoever started us is gone
      owner_gone_ = let_go_ = true;
      if (end_with_owner_) kill_all(0);
      return;
    }
    if (asked.what == wish::signal) {
      if (main_ > 0) kernel(__NR_kill, -main_, asked.value);
      return;
    }
    let_go_ = true;
    if (asked.what == wish::leave) {
      reap();
      end_if_alone();
      report still;
      still.what = news::stays;
      tell(still);
    } else if (asked.what == wish::kill) {
      killed_ = 0;
      report answer;
      answer.what = news::swept;
      answer.value = kill_all(asked.value);
      answer.code = killed_;
      tell(answer);
    }
  }

  // Until all that has ended is reaped, but the main process as long as it is kept.
  void reap() noexcept {
    while (true) {
      siginfo_t how{};
      rusage used{};
      const long got = kernel(__NR_waitid, P_ALL, 0, &how, WEXITED | WNOHANG | WNOWAIT | __WALL, &used);
      if (got == -ECHILD) alone_ = true;
      if (got < 0 || how.si_pid == 0) return;
      if (how.si_pid == main_) {
        const bool told = main_ended_;
        if (!told) tell_of_main(how, used);
        if (!let_go_) {
          if (told) reap_beside_main();
          return;
        }
      }
      bury(how);
    }
  }

  void tell_of_main(const siginfo_t& how, const rusage& used) noexcept {
    constexpr std::int64_t million = 1'000'000;
    main_ended_ = true;
    report ending;
    ending.what = news::exited;
    ending.code = how.si_code;
    ending.value = how.si_status;
    ending.cpu = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * million + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    ending.peak = used.ru_maxrss;
    tell(ending);
  }

  // The kernel always shows the oldest of the dead, so those behind it have to be found in another way.
  void reap_beside_main() noexcept {
    if (!table_.read(self_)) return;
    for (const process& one : table_) {
      siginfo_t how{};
      if (one.parent == self_ && one.state == 'Z' && one.pid != main_)
        kernel(__NR_waitid, P_PID, one.pid, &how, WEXITED | WNOHANG | __WALL, nullptr);
    }
  }

  void bury(const siginfo_t& how) noexcept {
    if (killing_) {
      // What forks and ends faster than /proc can be read is in the group of the dead, whose number it keeps.
      const long group = kernel(__NR_getpgid, how.si_pid);
      if (group > 0 && group != group_) kernel(__NR_kill, -group, SIGKILL);
      const bool by_us = how.si_code == CLD_KILLED && (how.si_status == SIGKILL || how.si_status == SIGHUP);
      if (by_us && how.si_pid != main_) ++killed_;
      ++buried_;
    }
    if (how.si_pid == main_) main_ = 0;
    siginfo_t unused{};
    kernel(__NR_waitid, P_PID, how.si_pid, &unused, WEXITED | WNOHANG | __WALL, nullptr);
  }

  // How many are left. `bound`: milliseconds; 0: as long as it takes.
  int kill_all(std::int64_t bound) noexcept {
    killing_ = true;
    const std::int64_t until = now() + bound;
    reap();
    int left = 0;
    while (!alone_) {
      buried_ = 0;
      const sight seen = strike();
      left = seen.alive > 0 ? seen.alive : 1;
      if ((seen.alive > 0 && seen.alive == seen.forbidden) || (bound > 0 && now() >= until)) break;
      wait_for(seen.alive);
    }
    killing_ = false;
    return alone_ ? 0 : left;
  }

  struct sight {
    int alive = 0;
    int forbidden = 0;  // of these, the ones that we may not signal
  };

  // One reading of /proc and KILL to all that it shows. They are stopped first: what stands still neither forks nor reaps.
  sight strike() noexcept {
    sight seen;
    if (!table_.read(self_)) {
      if (main_ > 0) kernel(__NR_kill, -main_, SIGKILL);
      return seen;
    }
    for (const process& one : table_) {
      if (one.ours) signal(one, SIGSTOP);
    }
    for (const process& one : table_) {
      if (!one.ours) continue;
      const long result = signal(one, SIGKILL);
      if (result == -ESRCH || one.state == 'Z') continue;
      ++seen.alive;
      if (result == -EPERM) ++seen.forbidden;
    }
    return seen;
  }

  // To the process, if it is still the one that was seen, and to its group.
  long signal(const process& to, int what) const noexcept {
    const long pidfd = kernel(__NR_pidfd_open, to.pid, 0);
    if (pidfd < 0) return pidfd;
    process again{};
    long result = -ESRCH;
    if (read_process(to.pid, again) && again.start_time == to.start_time) {
      result = kernel(__NR_pidfd_send_signal, pidfd, what, nullptr, 0);
      if (again.group > 0 && again.group != group_) kernel(__NR_kill, -again.group, what);
    }
    kernel(__NR_close, pidfd);
    return result;
  }

  // Until so many have been buried, or the pause is over.
  void wait_for(int dying) noexcept {
    const std::int64_t until = now() + (dying > 0 ? pause : short_pause);
    while (true) {
      forget_deaths();
      reap();
      const std::int64_t left = until - now();
      if (alone_ || left <= 0 || (dying > 0 && buried_ >= dying)) return;
      pollfd death{deaths_, POLLIN, 0};
      const timespec rest{0, left * 1'000'000};
      kernel(__NR_ppoll, &death, 1, &rest, nullptr, mask_size);
    }
  }

  const bool end_with_owner_;
  const std::int32_t self_;
  const std::int32_t group_;
  int deaths_ = -1;
  std::int32_t main_ = 0;  // 0: reaped
  bool main_ended_ = false;
  bool let_go_ = false;
  bool owner_gone_ = false;
  bool killing_ = false;
  bool alone_ = false;  // no child is left, and none can come
  int killed_ = 0;      // others than the main process
  int buried_ = 0;
  process_table table_;
};

// Not for the eyes of who looks for the processes of a run, nor for anybody who reads our memory.
void wipe(char** list) noexcept {
  for (; *list != nullptr; ++list) {
    for (char* at = *list; *at != '\0'; ++at) *static_cast<volatile char*>(at) = '\0';
  }
}

// `stack`: as the kernel has laid it out.
[[noreturn]] void run(long* stack) noexcept {
  const long count = stack[0];
  char** const argv = reinterpret_cast<char**>(stack + 1);
  char** const envp = argv + count + 1;
  kernel(__NR_prctl, PR_SET_NAME, "looptask-shim");
  birth plan{argv[shim_protocol::workdir_argument],
             argv[shim_protocol::path_argument],
             argv + shim_protocol::first_argument,
             envp,
             step::exec,
             0};
  bool end_with_owner = false;
  for (const char* option = argv[shim_protocol::options_argument]; *option != '\0'; ++option)
    end_with_owner = end_with_owner || *option == shim_protocol::end_with_owner;
  guard all(end_with_owner);
  long pid = kernel(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (pid == 0) pid = all.failure();
  plan.where = step::shim;
  if (pid == 0) {
    plan.where = step::exec;
    pid = start(plan);
  }
  report begun;
  begun.what = pid > 0 && plan.error == 0 ? news::running : news::failed;
  begun.code = static_cast<std::int32_t>(pid > 0 ? plan.where : step::shim);
  begun.value = pid > 0 ? plan.error : static_cast<std::int32_t>(-pid);
  // The output belongs to the program, and the folder to whoever wants to remove it.
  for (int fd = 0; fd < channel; ++fd) kernel(__NR_close, fd);
  kernel(__NR_chdir, "/");
  wipe(envp);
  tell(begun);
  if (pid <= 0) end(1);
  all.watch(static_cast<std::int32_t>(pid));
}

}  // namespace
}  // namespace looptask

void shim_main(long* stack) { looptask::run(stack); }

#if defined(__x86_64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call shim_main\n");
#elif defined(__aarch64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  mov x29, #0\n"
    "  mov x0, sp\n"
    "  bl shim_main\n");
#endif
