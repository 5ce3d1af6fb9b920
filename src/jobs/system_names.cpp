#include "jobs/system_names.hpp"

#include <array>
#include <csignal>
#include <cstring>
#include <utility>

namespace looptask::jobs {
namespace {

constexpr auto signals = std::to_array<std::pair<int, const char*>>(
    {{SIGHUP, "HUP"},   {SIGINT, "INT"},       {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},       {SIGTRAP, "TRAP"}, {SIGABRT, "ABRT"},
     {SIGBUS, "BUS"},   {SIGFPE, "FPE"},       {SIGKILL, "KILL"}, {SIGUSR1, "USR1"},     {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"},
     {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"},     {SIGTERM, "TERM"}, {SIGSTKFLT, "STKFLT"}, {SIGCHLD, "CHLD"}, {SIGCONT, "CONT"},
     {SIGSTOP, "STOP"}, {SIGTSTP, "TSTP"},     {SIGTTIN, "TTIN"}, {SIGTTOU, "TTOU"},     {SIGURG, "URG"},   {SIGXCPU, "XCPU"},
     {SIGXFSZ, "XFSZ"}, {SIGVTALRM, "VTALRM"}, {SIGPROF, "PROF"}, {SIGWINCH, "WINCH"},   {SIGIO, "IO"},     {SIGPWR, "PWR"},
     {SIGSYS, "SYS"}});

}  // namespace

std::string signal_name(int number) {
  for (const auto& [known, name] : signals)
    if (known == number) return std::string("SIG") + name;
  return "signal " + std::to_string(number);
}

std::string error_text(int number) {
  const char* const symbol = ::strerrorname_np(number);
  const char* const text = ::strerrordesc_np(number);
  if (symbol == nullptr || text == nullptr) return "error " + std::to_string(number);
  return std::string(text) + " (" + symbol + ")";
}

}  // namespace looptask::jobs
