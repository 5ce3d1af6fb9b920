#pragma once
// The console port: the only door to stdin, stdout, stderr and to the question whether they are terminals.
//
// Data goes to out(), everything said to a person to err(). A reader that went away (EPIPE) is no error: writing stops, the
// verb ends as it would have. Any other failure to write (a full disk) is said once on stderr and makes finish() answer 125.
// out(), read_line() and finish() belong to the main thread; err() may be called by any thread, one whole line at a time.
//
//   auto io = cli::open_console();
//   io->out("data\n");
//   return io->finish(0);
#include <memory>
#include <string>
#include <string_view>

namespace looptask::cli {

class console {
 public:
  virtual ~console() = default;

  // Buffered. False once nobody can read it any more: a verb that produces without end stops then.
  virtual bool out(std::string_view bytes) = 0;
  // Hands on what is buffered; for data that somebody waits for. Same answer as out().
  virtual bool flush() = 0;
  // At once and after everything given to out(); never fails. Any thread.
  virtual void err(std::string_view bytes) noexcept = 0;
  // The next line of stdin without its end; false at the end of the input. Throws std::system_error if stdin cannot be read.
  virtual bool read_line(std::string& line) = 0;

  virtual bool out_is_terminal() const noexcept = 0;
  virtual bool err_is_terminal() const noexcept = 0;

  // Flushes and gives the exit code of the process: `code`, or 125 if data was lost for another reason than a closed pipe.
  virtual int finish(int code) = 0;
};

// The process's own three descriptors. One per process: ignores SIGPIPE and SIGXFSZ from here on.
std::unique_ptr<console> open_console();

}  // namespace looptask::cli
