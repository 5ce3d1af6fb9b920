#pragma once
// Where lines of the live log go. A line is whole, with its '\n'. Never blocks the loop, never throws.
//
//   auto log = make_async_log([&](std::string_view line) { return console.err(line); }, 8192, losses_in_words);
//   log->write(now, "ready\n");
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <looptask/function.hpp>
#include <looptask/time.hpp>

namespace looptask::service {

class log_sink {
 public:
  virtual ~log_sink() = default;  // what was written before has come out afterwards, apart from what was dropped
  virtual void write(instant when, std::string_view line) noexcept = 0;  // `when`: the wall clock's time, as in the line
  // Lines lost because nobody took them fast enough, or because they could not be written (whole).
  virtual std::uint64_t dropped() const noexcept = 0;
};

class async_log : public log_sink {
 public:
  // Calls `done`, on a thread of the log, once all that was written before has come out or is lost. One at a time.
  virtual void when_out(unique_function<void()> done) = 0;
};

// Hands lines to `out` on a thread of its own. `out` says how many bytes got through; after a part of a line the next one
// begins with '\n'. At most `queue` lines wait; then the oldest are dropped. `say_dropped` makes the line that stands in place
// of lost ones, from the time of the line after them and their number. Both are called on that thread and must not throw.
// The end waits for `out`.
std::unique_ptr<async_log> make_async_log(unique_function<std::size_t(std::string_view)> out, std::size_t queue,
                                          unique_function<std::string(instant, std::uint64_t)> say_dropped);

}  // namespace looptask::service
