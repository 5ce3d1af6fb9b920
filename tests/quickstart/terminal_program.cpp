#include "quickstart/terminal_program.hpp"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace looptask::tests {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

terminal_program::terminal_program(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
                                   const std::string& workdir) {
  std::vector<std::string> words = argv, entries;
  for (const auto& [name, value] : env) entries.emplace_back(name).append("=").append(value);
  const std::vector<char*> word_pointers = pointers_to(words), entry_pointers = pointers_to(entries);
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "forkpty");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::chdir(workdir.c_str()) == 0) ::execve(word_pointers[0], word_pointers.data(), entry_pointers.data());
    ::_exit(127);
  }
}

terminal_program::~terminal_program() {
  if (pid_ > 0) {
    signal(SIGTERM);
    signal(SIGTERM);
    if (finish(std::chrono::steady_clock::now() + std::chrono::seconds(20)) < 0) {
      signal(SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  ::close(terminal_);
}

void terminal_program::signal(int number) const { ::kill(pid_, number); }

bool terminal_program::read_more(std::chrono::steady_clock::time_point until) {
  if (closed_) return false;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  pollfd one{terminal_, POLLIN, 0};
  if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) != 1) return false;
  std::array<char, 4096> part{};
  const ssize_t n = ::read(terminal_, part.data(), part.size());
  if (n <= 0) {  // EIO: nobody has the terminal open any more
    closed_ = true;
    return false;
  }
  std::copy_if(part.begin(), part.begin() + n, std::back_inserter(output_), [](char c) { return c != '\r'; });
  return true;
}

int terminal_program::finish(std::chrono::steady_clock::time_point until) {
  while (read_more(until)) {
  }
  if (!closed_) return -1;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace looptask::tests
