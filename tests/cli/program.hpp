#pragma once
// The real `looptask`, run once to its end with everything it says caught.
#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace looptask::cli {

struct program_result {
  int code = -1;  // 128 + N if signal N ended it
  std::string out, err;
};

struct program_call {
  std::vector<std::string> arguments;
  std::string input = {};
  std::string workdir = "/";
  std::map<std::string, std::string> env = {};  // beside PATH; nothing else is there
  bool full_out = false, full_err = false;      // the pipe can take nothing until somebody reads it
};

// Throws std::system_error if it cannot be started.
program_result run_program(const program_call& call);

// The same, still going. Killed at the end if it has not ended.
class running_program {
 public:
  explicit running_program(const program_call& call);
  ~running_program();
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  void close_err();  // nobody reads its stderr any more
  // Reads stderr until `text` has come; false if the program ended, or `bound` passed, before.
  bool wait_for(const std::string& text, std::chrono::seconds bound = std::chrono::seconds(20));
  // The same for an occurrence later than those that these two found before.
  bool wait_for_next(const std::string& text, std::chrono::seconds bound = std::chrono::seconds(20));
  // The same for an occurrence after the first one of `mark`.
  bool wait_for_after(const std::string& mark, const std::string& text, std::chrono::seconds bound = std::chrono::seconds(20));
  // Whether it ends, without anybody reading what it says, before `bound` has passed.
  bool ends_within(std::chrono::milliseconds bound) const;
  // Reads both outputs to their end and waits for the program's own.
  program_result finish();

 private:
  bool wait_from(std::size_t offset, const std::string& text, std::chrono::seconds bound);
  bool read_more(int timeout_ms);  // false at the end of both, or after the timeout

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  std::string input_;
  program_result result_;
  std::size_t found_ = 0;  // where the next occurrence is looked for
};

}  // namespace looptask::cli
