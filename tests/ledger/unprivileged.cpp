#include "unprivileged.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>

namespace looptask::ledger {
namespace {

constexpr unsigned nobody = 65534;

std::string call(unique_function<std::string()>& what) {
  try {
    return what();
  } catch (const std::exception& why) {
    return std::string("threw: ") + why.what();
  }
}

}  // namespace

std::string as_nobody(unique_function<std::string()> what) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string said = "cannot become nobody";
    if (geteuid() != 0 || (setresgid(nobody, nobody, nobody) == 0 && setresuid(nobody, nobody, nobody) == 0)) said = call(what);
    const bool written = write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return said;
}

}  // namespace looptask::ledger
