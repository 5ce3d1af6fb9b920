#include "host/process_launch.hpp"

#include <fcntl.h>
#include <sys/resource.h>
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

enum class step : int { stopped, session, signals, input, output, workdir, descriptors, limit, exec };

struct failure {
  step where;
  int error;
};

// Everything the child needs, laid out before it exists.
struct child_plan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* workdir;
  int input;
  int output;
  int status;             // close-on-exec: its end of file says that the program runs
  const rlimit64* limit;  // of descriptors; nullptr: the inherited one
  bool (*may_go_on)(void* control, pid_t self);
  void* control;
};

// Where the child keeps its end of the status pipe.
constexpr int status_place = STDERR_FILENO + 1;

// ---- between vfork and exec: system calls only, no allocation, no lock, nothing that a sanitizer or a user hooks ----

[[noreturn]] void give_up(const child_plan& plan, step where) noexcept {
  const failure report{where, errno};
  ssize_t written = 0;
  do {
    written = ::write(plan.status, &report, sizeof report);
  } while (written < 0 && errno == EINTR);
  ::_exit(127);
}

// Handlers are reset by exec, ignored signals are not. The raw call also reaches the two numbers that the C library keeps for
// itself. An all-zero structure is SIG_DFL on every architecture; 64 bytes hold the kernel's structure on all of them.
bool reset_signals() noexcept {
  constexpr int last_signal = 64;
  constexpr std::size_t mask_size = 8;
  alignas(long) const std::array<char, 64> to_default{};
  for (int number = 1; number <= last_signal; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (::syscall(SYS_rt_sigaction, number, to_default.data(), nullptr, mask_size) != 0) return false;
  }
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
  if (plan.status != status_place && ::dup3(plan.status, status_place, O_CLOEXEC) < 0) give_up(plan, step::descriptors);
  plan.status = status_place;
  // Before the first step that may hang: a child that does would keep open the pipes of others that start meanwhile.
  if (::syscall(SYS_close_range, status_place + 1U, ~0U, 0U) != 0) give_up(plan, step::descriptors);
  if (::chdir(plan.workdir) != 0) give_up(plan, step::workdir);
  if (!reset_signals()) give_up(plan, step::signals);
  if (plan.limit != nullptr && ::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, plan.limit, nullptr) != 0) give_up(plan, step::limit);
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

// The lowest three numbers are the child's own; a descriptor that landed there (ours were closed) would be overwritten.
bool lift(descriptor& fd) {
  if (!fd || fd.get() > STDERR_FILENO) return static_cast<bool>(fd);
  fd = descriptor(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
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

std::string describe(const failure& what, const process_spec& spec, const std::string& program) {
  switch (what.where) {
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
    case step::exec:
      break;
  }
  // The kernel says ENOENT for a script whose interpreter is missing, too.
  if (what.error == ENOENT && exists(program, spec.workdir))
    return "exec " + program + " (the file is there, its interpreter is not)";
  return "exec " + program;
}

// False: the end of file came first, so the program runs.
bool read_failure(int fd, failure& report) noexcept {
  return read_some(fd, &report, sizeof report) == static_cast<ssize_t>(sizeof report);
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
      output_(std::move(other.output_)) {}

launched::~launched() {
  if (pid_ > 0) kill_and_reap(pid_);
}

launched::descriptors launched::release() noexcept {
  pid_ = -1;
  return {std::move(pidfd_), std::move(output_)};
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

launched launch(const process_spec& spec, launch_control& control) {
  if (holds_nul(spec)) return {EINVAL, "a NUL in an argument, the environment or the folder"};
  const search program = find_program(spec);
  if (program.path.empty()) return {program.error, "exec " + spec.argv.front() + " (searched in PATH=" + program.where + ")"};

  descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!lift(input)) return {errno, "open /dev/null"};
  std::optional<pipe_ends> output = open_pipe();
  if (!output) return {errno, "pipe"};
  std::optional<pipe_ends> status = open_pipe();
  if (!status) return {errno, "pipe"};
  if (::fcntl(output->reading.get(), F_SETFL, O_NONBLOCK) != 0) return {errno, "pipe"};

  const std::vector<char*> argv = pointers(spec.argv);
  const std::vector<char*> envp = pointers(spec.env);
  const std::optional<rlimit64> limit = descriptor_limit_of_children();
  const child_plan plan{program.path.c_str(),
                        argv.data(),
                        envp.data(),
                        spec.workdir.c_str(),
                        input.get(),
                        output->writing.get(),
                        status->writing.get(),
                        limit ? &*limit : nullptr,
                        [](void* of, pid_t self) { return static_cast<launch_control*>(of)->child_may_go_on(self); },
                        &control};
  if (control.stopped_) return {ECANCELED, stopped_words};
  const pid_t pid = start(plan);
  if (pid < 0) return {errno, "fork"};
  control.child_is_there(pid);
  output->writing.reset();
  status->writing.reset();

  failure report{};
  const bool failed = read_failure(status->reading.get(), report);
  control.child_is_settled();
  if (failed) {
    reap(pid);
    return {report.error, describe(report, spec, program.path)};
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
  if (control.stopped_ && !about->executed) {
    kill_and_reap(pid);
    return {ECANCELED, stopped_words};
  }
  return {pid, about->start_time, std::move(pidfd), std::move(output->reading)};
}

}  // namespace looptask
