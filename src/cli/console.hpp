#pragma once
// The console port: the only door to stdin, stdout, stderr and to the question whether they are terminals.
//
// Data goes to out(), everything said to a person to err(). A reader that went away (EPIPE) is no error: writing stops, the
// verb ends as it would have. Any other failure to write (a full disk) is said once on stderr and makes finish() answer 125.
// A reader that stalls is waited for: on stdout for as long as it takes, on stderr until hurry() is called.
// out(), read_line() and finish() belong to the main thread; err() may be called by any thread, one whole line at a time.
//
//   auto io = cli::open_console();
//   io->out("data\n");
//   return io->finish(0);
#include <cstddef>
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
  // At once and after everything given to out(). Returns how many of the bytes got through: fewer if stderr is full, closed or
  // stalled. Any thread.
  virtual std::size_t err(std::string_view bytes) noexcept = 0;
  // One line for a person, without its end; what may stand in it is shown by printable().
  void say(std::string_view line);
  // From now on nobody waits for a stalled reader of stderr, also not an err() that is waiting now. Any thread.
  virtual void hurry() noexcept = 0;
  // The next line of stdin without its end; false at the end of the input. Throws std::system_error if stdin cannot be read.
  virtual bool read_line(std::string& line) = 0;

  virtual bool out_is_terminal() const noexcept = 0;
  virtual bool err_is_terminal() const noexcept = 0;

  // Flushes and gives the exit code of the process: `code`, or 125 if data was lost for another reason than a closed pipe.
  virtual int finish(int code) = 0;
};

// The process's own three descriptors. One per process, before any file is opened: descriptors that are closed are taken, so
// that no file gets their numbers. Ignores SIGPIPE and SIGXFSZ from here on.
std::unique_ptr<console> open_console();

}  // namespace looptask::cli
