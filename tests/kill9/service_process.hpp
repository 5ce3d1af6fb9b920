#pragma once
// A real `looptask` in a process of its own, and what is alive in the system because of it.
#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace looptask::tests {

class service_process {
 public:
  // Starts argv[0] with stdout and stderr appended to files. Dies with the test. Throws std::system_error.
  service_process(const std::vector<std::string>& argv, const std::string& stdout_path, const std::string& stderr_path);
  service_process(const service_process&) = delete;
  service_process& operator=(const service_process&) = delete;
  ~service_process();  // kills it if it still runs

  pid_t pid() const noexcept { return pid_; }
  void signal(int number);
  // Waits for its end: the exit code, 128 + N if signal N ended it, -1 if it had not ended after `bound`.
  int wait(std::chrono::milliseconds bound);

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  bool ended_ = false;
  int result_ = -1;
};

// The processes, other than zombies, whose environment has this "NAME=value".
std::vector<pid_t> processes_with(const std::string& entry);

}  // namespace looptask::tests
