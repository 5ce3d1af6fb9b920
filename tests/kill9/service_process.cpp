#include "kill9/service_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace looptask::tests {

service_process::service_process(const std::vector<std::string>& argv, const std::string& stdout_path,
                                 const std::string& stderr_path) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out = ::open(stdout_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int err = ::open(stderr_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (in < 0 || out < 0 || err < 0) throw std::system_error(errno, std::generic_category(), stderr_path);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  const int error = errno;
  ::close(in);
  ::close(out);
  ::close(err);
  if (pid_ < 0) throw std::system_error(error, std::generic_category(), "fork");
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
}

service_process::~service_process() {
  if (!ended_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(pidfd_);
}

void service_process::signal(int number) {
  if (!ended_) ::kill(pid_, number);
}

int service_process::wait(std::chrono::milliseconds bound) {
  if (ended_) return result_;
  pollfd one{pidfd_, POLLIN, 0};
  if (::poll(&one, 1, static_cast<int>(bound.count())) != 1) return -1;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  ended_ = true;
  result_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result_;
}

std::vector<pid_t> processes_with(const std::string& entry) {
  std::vector<pid_t> found;
  for (const auto& item : std::filesystem::directory_iterator("/proc")) {
    const std::string name = item.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // A zombie's environment reads as empty, and that of a process that just went away not at all.
    std::ifstream in(item.path() / "environ", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::size_t at = text.find(entry); at != std::string::npos; at = text.find(entry, at + 1)) {
      const bool begins = at == 0 || text[at - 1] == '\0';
      const std::size_t end = at + entry.size();
      if (!begins || (end != text.size() && text[end] != '\0')) continue;
      found.push_back(static_cast<pid_t>(std::stol(name)));
      break;
    }
  }
  return found;
}

}  // namespace looptask::tests
