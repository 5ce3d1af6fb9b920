#pragma once
// A program on a terminal of its own, as a user sees it: both outputs are the terminal's. One thread.
#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace looptask::tests {

class terminal_program {
 public:
  // Starts argv[0] in `workdir`, with this environment and no other. Throws std::system_error if there is no terminal for it.
  terminal_program(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
                   const std::string& workdir);
  ~terminal_program();  // what has not ended is told to stop, and killed if it does not within 20 s
  terminal_program(const terminal_program&) = delete;
  terminal_program& operator=(const terminal_program&) = delete;

  void signal(int number) const;
  // Waits for more of its output. False when there is no more, or none came before `until`.
  bool read_more(std::chrono::steady_clock::time_point until);
  const std::string& output() const noexcept { return output_; }  // without the carriage returns of a terminal
  // Reads to the end; then the exit code, 128 + N if signal N ended it, -1 if it goes on at `until`.
  int finish(std::chrono::steady_clock::time_point until);

 private:
  pid_t pid_ = -1;
  int terminal_ = -1;
  bool closed_ = false;  // by the other side
  std::string output_;
};

}  // namespace looptask::tests
