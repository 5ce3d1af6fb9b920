#include "host/process_launch.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

#include "host/descriptor_limit.hpp"
#include "host/process_table.hpp"
#include "host/system_call.hpp"

namespace looptask {
namespace {

using shim_protocol::news;
using shim_protocol::report;
using shim_protocol::step;

// Everything the child needs, laid out before it exists. With a shim the child is the shim.
struct child_plan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* workdir;
  int input;
  int output;
  int status;             // close-on-exec: its end of file says that the program runs; the channel of a shim
  int shim;               // its program; -1: none
  const rlimit64* limit;  // of descriptors; nullptr: the inherited one
  bool (*may_go_on)(void* control, pid_t self);
  void* control;
};

// Where the child keeps its end of the status pipe, and the program of the shim.
constexpr int status_place = STDERR_FILENO + 1;
constexpr int shim_place = status_place + 1;
static_assert(status_place == shim_protocol::channel);

// ---- between vfork and exec: system calls only, no allocation, no lock, nothing that a sanitizer or a user hooks ----

[[noreturn]] void give_up(const child_plan& plan, step where) noexcept {
  report what;
  what.what = news::failed;
  what.code = static_cast<std::int32_t>(where);
  what.value = errno;
  ssize_t written = 0;
  do {
    written = ::write(plan.status, &what, sizeof what);
  } while (written < 0 && errno == EINTR);
  ::_exit(127);
}

// Handlers are reset by exec, ignored signals are not. The raw call also reaches the two numbers that the C library keeps for
// itself. An all-zero structure is SIG_DFL on every architecture; 64 bytes hold the kernel's structure on all of them.
bool reset_signals(bool keep_blocked) noexcept {
  constexpr int last_signal = 64;
  constexpr std::size_t mask_size = 8;
  alignas(long) const std::array<char, 64> to_default{};
  for (int number = 1; number <= last_signal; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (::syscall(SYS_rt_sigaction, number, to_default.data(), nullptr, mask_size) != 0) return false;
  }
  if (keep_blocked) return true;
  const std::uint64_t nothing = 0;
  return ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, mask_size) == 0;
}

[[noreturn]] void become(child_plan plan) noexcept {
  errno = ECANCELED;
  if (!plan.may_go_on(plan.control, ::getpid())) give_up(plan, step::stopped);
  if (::setsid() < 0) give_up(plan, step::session);
  ::umask(022);
  if (::dup2(plan.input, STDIN_FILENO) < 0) give_up(plan, step::input);
  if (::dup2(plan.output, STDOUT_FILENO) < 0 || ::dup2(plan.output, STDERR_FILENO) < 0) give_up(plan, step::output);
  const bool with_shim = plan.shim >= 0;
  const int status_flags = with_shim ? 0 : O_CLOEXEC;
  if (plan.status != status_place && ::dup3(plan.status, status_place, status_flags) < 0) give_up(plan, step::descriptors);
  plan.status = status_place;
  if (with_shim && ::dup3(plan.shim, shim_place, O_CLOEXEC) < 0) give_up(plan, step::shim);
  // Before the first step that may hang: a child that does would keep open the pipes of others that start meanwhile.
  const unsigned first_unused = with_shim ? shim_place + 1U : status_place + 1U;
  if (::syscall(SYS_close_range, first_unused, ~0U, 0U) != 0) give_up(plan, step::descriptors);
  if (!with_shim && ::chdir(plan.workdir) != 0) give_up(plan, step::workdir);
  if (!reset_signals(with_shim)) give_up(plan, step::signals);
  if (plan.limit != nullptr && ::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, plan.limit, nullptr) != 0) give_up(plan, step::limit);
  if (with_shim) {
    ::syscall(SYS_execveat, shim_place, "", plan.argv, plan.envp, AT_EMPTY_PATH);
    give_up(plan, step::shim);
  }
  ::execve(plan.program, plan.argv, plan.envp);
  give_up(plan, step::exec);
}

// A frame of its own: the child runs in it while the parent stands still.
[[gnu::noinline]] pid_t start(const child_plan& plan) noexcept {
  const pid_t pid = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): the point of this file
  if (pid == 0) become(plan);
  return pid;
}

// ---- before and after, in the parent ----

// The lowest numbers are the child's own; a descriptor that landed there (ours were closed) would be overwritten.
bool lift(descriptor& fd, int lowest = STDERR_FILENO + 1) {
  if (!fd || fd.get() >= lowest) return static_cast<bool>(fd);
  fd = descriptor(::fcntl(fd.get(), F_DUPFD_CLOEXEC, lowest));
  return static_cast<bool>(fd);
}

struct pipe_ends {
  descriptor reading;
  descriptor writing;
};

std::optional<pipe_ends> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  pipe_ends made{descriptor(ends[0]), descriptor(ends[1])};
  if (!lift(made.reading) || !lift(made.writing)) return std::nullopt;
  return made;
}

struct search {
  std::string path;    // empty: not found
  int error = ENOENT;  // of the nearest miss
  std::string where;   // the PATH that was searched, for the message
};

// As execvp does, but in the child's PATH and from the child's folder, and without its guess that a file that is no program
// is a script.
search find_program(const process_spec& spec) {
  search found;
  const std::string& name = spec.argv.front();
  if (name.find('/') != std::string::npos) {
    found.path = name;  // relative ones are the child's business: it has changed folder by then
    return found;
  }
  constexpr std::string_view variable = "PATH=";
  const auto path = std::find_if(spec.env.begin(), spec.env.end(),
                                 [&](const std::string& pair) { return pair.compare(0, variable.size(), variable) == 0; });
  found.where = path == spec.env.end() ? "/usr/bin:/bin" : path->substr(variable.size());
  if (name.empty()) return found;
  for (std::size_t begin = 0; begin <= found.where.size();) {
    const std::size_t end = std::min(found.where.find(':', begin), found.where.size());
    std::string candidate = found.where.substr(begin, end - begin);
    begin = end + 1;
    if (candidate.empty() || candidate.front() != '/') candidate.insert(0, spec.workdir + "/");
    candidate += "/" + name;
    struct stat about {};
    if (::stat(candidate.c_str(), &about) != 0) {
      if (errno != ENOENT && errno != ENOTDIR) found.error = errno;
    } else if (!S_ISREG(about.st_mode)) {
      found.error = EACCES;
    } else if (::faccessat(AT_FDCWD, candidate.c_str(), X_OK, AT_EACCESS) != 0) {
      found.error = errno;
    } else {
      found.path = std::move(candidate);
      return found;
    }
  }
  return found;
}

// The kernel reads up to the first NUL; what the caller meant beyond it would be lost without a word.
bool holds_nul(const process_spec& spec) {
  const auto cut = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  return std::any_of(spec.argv.begin(), spec.argv.end(), cut) || std::any_of(spec.env.begin(), spec.env.end(), cut) ||
         cut(spec.workdir);
}

bool exists(const std::string& program, const std::string& workdir) {
  const std::string path = program.front() == '/' ? program : workdir + "/" + program;
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, 0) == 0;
}

constexpr const char* stopped_words = "stopped before it was started";
constexpr const char* shim_words = "the shim that containment needs";

std::string describe(const report& what, const process_spec& spec, const std::string& program) {
  switch (static_cast<step>(what.code)) {
    case step::stopped:
      return stopped_words;
    case step::session:
      return "setsid";
    case step::signals:
      return "reset signals";
    case step::input:
      return "stdin";
    case step::output:
      return "stdout";
    case step::workdir:
      return "chdir " + spec.workdir;
    case step::descriptors:
      return "close_range";
    case step::limit:
      return "limit of descriptors";
    case step::shim:
      return shim_words;
    case step::exec:
      break;
  }
  // The kernel says ENOENT for a script whose interpreter is missing, too.
  if (what.value == ENOENT && exists(program, spec.workdir))
    return "exec " + program + " (the file is there, its interpreter is not)";
  return "exec " + program;
}

// False: the end of file came first, so the program runs.
bool read_failure(int fd, report& what) noexcept {
  return read_some(fd, &what, sizeof what) == static_cast<ssize_t>(sizeof what);
}

void reap(std::int32_t pid) noexcept {
  siginfo_t unused{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &unused, WEXITED) != 0 && errno == EINTR) {
  }
}

void kill_and_reap(std::int32_t pid) noexcept {
  ::kill(-pid, SIGKILL);  // its own group since setsid, and pinned by the child that is not yet reaped
  reap(pid);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (const std::string& text : strings) list.push_back(const_cast<char*>(text.c_str()));  // execve does not write
  list.push_back(nullptr);
  return list;
}

}  // namespace

launched::launched(launched&& other) noexcept
    : error_(other.error_),
      step_(std::move(other.step_)),
      pid_(std::exchange(other.pid_, -1)),
      start_time_(other.start_time_),
      pidfd_(std::move(other.pidfd_)),
      output_(std::move(other.output_)),
      shim_(std::move(other.shim_)) {}

launched::~launched() {
  if (pid_ <= 0) return;
  if (shim_)
    shim_.end_tree();
  else
    kill_and_reap(pid_);
}

launched::descriptors launched::release() noexcept {
  pid_ = -1;
  return {std::move(pidfd_), std::move(output_), std::move(shim_)};
}

void launch_control::stop() noexcept {
  stopped_ = true;
  const std::lock_guard lock(signalling_);
  if (const std::int32_t pid = pid_; pid > 0) ::kill(pid, SIGKILL);
}

// Either stop() sees the pid, or the child sees that it was called.
bool launch_control::child_may_go_on(std::int32_t pid) noexcept {
  pid_ = pid;
  return !stopped_;
}

// ThreadSanitizer makes a fork of vfork: then what the child has said of itself stays in its own memory.
void launch_control::child_is_there(std::int32_t pid) noexcept {
  const std::lock_guard lock(signalling_);
  pid_ = pid;
  if (stopped_) ::kill(pid, SIGKILL);
}

void launch_control::child_is_settled() noexcept {
  const std::lock_guard lock(signalling_);
  pid_ = 0;
}

// The two ways to a child, from what has been prepared for both.
class launching {
 public:
  launching(const process_spec& spec, launch_control& control, child_plan plan, pipe_ends output)
      : spec_(spec), control_(control), plan_(plan), output_(std::move(output)), envp_(pointers(spec.env)) {
    plan_.envp = envp_.data();
    plan_.control = &control_;
    plan_.shim = -1;
  }

  launched alone() {
    std::optional<pipe_ends> status = open_pipe();
    if (!status) return {errno, "pipe"};
    const std::vector<char*> argv = pointers(spec_.argv);
    plan_.argv = argv.data();
    plan_.workdir = spec_.workdir.c_str();
    plan_.status = status->writing.get();
    plan_.may_go_on = [](void* of, pid_t self) { return static_cast<launch_control*>(of)->child_may_go_on(self); };
    if (control_.stopped_) return {ECANCELED, stopped_words};
    const pid_t pid = start(plan_);
    if (pid < 0) return {errno, "fork"};
    control_.child_is_there(pid);
    output_.writing.reset();
    status->writing.reset();

    report failure;
    const bool failed = read_failure(status->reading.get(), failure);
    control_.child_is_settled();
    if (failed) {
      reap(pid);
      return {failure.value, describe(failure, spec_, plan_.program)};
    }
    // Safe until we reap it ourselves: a child keeps its pid that long.
    descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd) {
      const int error = errno;
      kill_and_reap(pid);
      return {error, "pidfd_open"};
    }
    const std::optional<process_entry> about = read_process(pid);
    if (!about) {
      const int error = errno;
      kill_and_reap(pid);
      return {error, "read /proc/" + std::to_string(pid) + "/stat"};
    }
    // The pipe ends in the same way when the child was killed on its way to the program.
    if (control_.stopped_ && !about->executed) {
      kill_and_reap(pid);
      return {ECANCELED, stopped_words};
    }
    return {pid, about->start_time, std::move(pidfd), std::move(output_.reading)};
  }

  launched with_shim() {
    plan_.shim = shim_program();
    if (plan_.shim < 0) return {errno, shim_words};
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return {errno, "socketpair"};
    descriptor ours(ends[0]);
    descriptor theirs(ends[1]);
    if (!lift(ours) || !lift(theirs, shim_place + 1)) return {errno, "socketpair"};
    std::vector<std::string> arguments{"looptask-shim", spec_.end_with_us ? std::string(1, shim_protocol::end_with_owner) : "-",
                                       spec_.workdir, plan_.program};
    arguments.insert(arguments.end(), spec_.argv.begin(), spec_.argv.end());
    const std::vector<char*> argv = pointers(arguments);
    plan_.argv = argv.data();
    plan_.status = theirs.get();
    // The shim does not hang, and is not to be killed: the program it starts would be out of reach.
    plan_.may_go_on = [](void* of, pid_t) { return static_cast<launch_control*>(of)->child_may_go_on(0); };
    if (control_.stopped_) return {ECANCELED, stopped_words};
    const pid_t pid = start(plan_);
    if (pid < 0) return {errno, "fork"};
    output_.writing.reset();
    theirs.reset();
    return settle(shim_line(pid, std::move(ours)));
  }

 private:
  // Until it runs or has failed. The shim keeps its child until it is told otherwise, so its pid is safe as long as the shim
  // is.
  launched settle(shim_line shim) {
    descriptor pidfd;
    int pidfd_error = 0;
    std::int32_t child = 0;
    report now;
    shim_line::heard heard = shim.wait(now, std::nullopt);
    if (heard == shim_line::heard::news && now.what == news::born) {
      child = now.pid;
      pidfd = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
      pidfd_error = errno;
      control_.child_is_there(child);
      heard = shim.wait(now, std::nullopt);
    }
    control_.child_is_settled();
    if (heard != shim_line::heard::news || now.what == news::failed) {
      if (pidfd) ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
      shim.kill();
      shim.bury();
      if (heard == shim_line::heard::news) return {now.value, describe(now, spec_, plan_.program)};
      return {ECANCELED, "its shim was killed"};
    }
    if (!pidfd) {
      shim.end_tree();
      return {pidfd_error, "pidfd_open"};
    }
    const std::optional<process_entry> about = read_process(child);
    if (!about) {
      const int error = errno;
      shim.end_tree();
      return {error, "read /proc/" + std::to_string(child) + "/stat"};
    }
    if (control_.stopped_ && !about->executed) {
      shim.end_tree();
      return {ECANCELED, stopped_words};
    }
    return {child, about->start_time, std::move(pidfd), std::move(output_.reading), std::move(shim)};
  }

  const process_spec& spec_;
  launch_control& control_;
  child_plan plan_;
  pipe_ends output_;
  const std::vector<char*> envp_;
};

launched launch(const process_spec& spec, launch_control& control) {
  if (holds_nul(spec)) return {EINVAL, "a NUL in an argument, the environment or the folder"};
  const search program = find_program(spec);
  if (program.path.empty()) return {program.error, "exec " + spec.argv.front() + " (searched in PATH=" + program.where + ")"};

  descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!lift(input)) return {errno, "open /dev/null"};
  std::optional<pipe_ends> output = open_pipe();
  if (!output) return {errno, "pipe"};
  if (::fcntl(output->reading.get(), F_SETFL, O_NONBLOCK) != 0) return {errno, "pipe"};
  const std::optional<rlimit64> limit = descriptor_limit_of_children();
  child_plan plan{};
  plan.program = program.path.c_str();
  plan.input = input.get();
  plan.output = output->writing.get();
  plan.limit = limit ? &*limit : nullptr;
  launching way(spec, control, plan, std::move(*output));
  return spec.containment == containment_tier::session ? way.alone() : way.with_shim();
}

}  // namespace looptask
