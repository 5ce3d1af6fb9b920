#include "cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <source_tree.hpp>
#include <system_error>

namespace looptask::cli {
namespace {

struct pipe_ends {
  int read = -1, write = -1;
};

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {ends[0], ends[1]};
}

void fill(int pipe) {
  const std::string page(4096, '.');
  ::fcntl(pipe, F_SETFL, O_NONBLOCK);
  while (::write(pipe, page.data(), page.size()) > 0) {
  }
  ::fcntl(pipe, F_SETFL, 0);
}

void close_if_open(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

running_program::running_program(const program_call& call) : input_(call.input) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::string path = tests::binary_dir() + "/looptask";
  std::vector<char*> argv{const_cast<char*>("looptask")};
  for (const auto& word : call.arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> env{"PATH=/usr/local/bin:/usr/bin:/bin"};
  for (const auto& [name, value] : call.env) env.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (auto& entry : env) envp.push_back(entry.data());
  envp.push_back(nullptr);

  pipe_ends in = make_pipe(), out = make_pipe(), err = make_pipe();
  if (call.full_out) fill(out.write);
  if (call.full_err) fill(err.write);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, call.workdir.c_str());
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t reset;
  sigemptyset(&reset);
  sigaddset(&reset, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &reset);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = ::posix_spawn(&pid_, path.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close_if_open(in.read);
  close_if_open(out.write);
  close_if_open(err.write);
  in_ = in.write;
  out_ = out.read;
  err_ = err.read;
  if (error != 0) throw std::system_error(error, std::generic_category(), path);
  ::fcntl(in_, F_SETFL, O_NONBLOCK);
  if (input_.empty()) close_if_open(in_);
}

running_program::~running_program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  close_if_open(in_);
  close_if_open(out_);
  close_if_open(err_);
}

void running_program::signal(int number) const { ::kill(pid_, number); }

void running_program::close_err() { close_if_open(err_); }

bool running_program::ends_within(std::chrono::milliseconds bound) const {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (process < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
  pollfd ended{process, POLLIN, 0};
  const bool over = ::poll(&ended, 1, static_cast<int>(bound.count())) > 0;
  ::close(process);
  return over;
}

bool running_program::read_more(int timeout_ms) {
  if (out_ < 0 && err_ < 0) return false;
  std::array<pollfd, 3> fds{{{out_, POLLIN, 0}, {err_, POLLIN, 0}, {in_, POLLOUT, 0}}};
  if (::poll(fds.data(), fds.size(), timeout_ms) <= 0) return false;
  std::array<char, 65536> part;
  const auto take = [&](int& fd, const pollfd& ready, std::string& into) {
    if (fd < 0 || ready.revents == 0) return;
    const ssize_t n = ::read(fd, part.data(), part.size());
    if (n > 0)
      into.append(part.data(), static_cast<std::size_t>(n));
    else
      close_if_open(fd);
  };
  take(out_, fds[0], result_.out);
  take(err_, fds[1], result_.err);
  if (in_ >= 0 && fds[2].revents != 0) {
    const ssize_t n = ::write(in_, input_.data(), input_.size());
    if (n > 0) input_.erase(0, static_cast<std::size_t>(n));
    if (n < 0 || input_.empty()) close_if_open(in_);
  }
  return true;
}

bool running_program::wait_for(const std::string& text, std::chrono::seconds bound) { return wait_from(0, text, bound); }

bool running_program::wait_for_next(const std::string& text, std::chrono::seconds bound) {
  if (!wait_from(found_, text, bound)) return false;
  found_ = result_.err.find(text, found_) + text.size();
  return true;
}

bool running_program::wait_for_after(const std::string& mark, const std::string& text, std::chrono::seconds bound) {
  return wait_from(0, mark, bound) && wait_from(result_.err.find(mark), text, bound);
}

bool running_program::wait_from(std::size_t offset, const std::string& text, std::chrono::seconds bound) {
  const auto end = std::chrono::steady_clock::now() + bound;
  while (result_.err.find(text, offset) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0 || !read_more(static_cast<int>(left))) return result_.err.find(text, offset) != std::string::npos;
  }
  return true;
}

program_result running_program::finish() {
  while (read_more(-1)) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  result_.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result_;
}

program_result run_program(const program_call& call) { return running_program(call).finish(); }

}  // namespace looptask::cli
