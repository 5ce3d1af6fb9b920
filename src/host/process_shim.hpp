#pragma once
// The shim of one child as this process sees it (the program itself: src/host/shim/shim.cpp): what is executed, and our end of
// the channel. Any thread, one at a time.
//
// The shim is a child of ours like any other: its pid is taken until bury().
//
//   shim_line line(pid, std::move(channel));
//   line.ask(shim_protocol::wish::kill, 5000);
//   while (line.read(news) == shim_line::heard::news) ...   // when the channel is readable
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "host/descriptor.hpp"
#include "host/shim/protocol.hpp"

namespace looptask {

// The program, sealed and without a name in any folder; made once, and kept for the life of the process. Negative, with errno:
// there is none for this processor (ENOSYS), or it cannot be made now.
int shim_program() noexcept;

class shim_line {
 public:
  shim_line() noexcept = default;
  shim_line(std::int32_t pid, descriptor channel) noexcept : pid_(pid), channel_(std::move(channel)) {}
  shim_line(shim_line&& other) noexcept : pid_(std::exchange(other.pid_, 0)), channel_(std::move(other.channel_)) {}
  shim_line& operator=(shim_line&& other) noexcept {
    pid_ = std::exchange(other.pid_, 0);
    channel_ = std::move(other.channel_);
    return *this;
  }

  explicit operator bool() const noexcept { return pid_ > 0; }
  std::int32_t pid() const noexcept { return pid_; }
  int get() const noexcept { return channel_.get(); }

  enum class delivery : std::uint8_t { sent, deaf, gone };  // deaf: it has not read for a long time
  // Never blocks. Sent does not mean heard: the end of the channel may come instead of an answer.
  delivery ask(shim_protocol::wish what, std::int32_t value = 0) const noexcept;

  enum class heard : std::uint8_t { news, nothing, end };
  heard read(shim_protocol::report& into) const noexcept;  // never blocks
  // The same, but waits up to `bound` (nullopt: as long as it takes) for something to come.
  heard wait(shim_protocol::report& into, std::optional<std::chrono::milliseconds> bound) const noexcept;
  // Reads on to the end; false: it has not come within the bound, or the shim says that it stays.
  bool wait_for_end(std::chrono::milliseconds bound) const noexcept;

  void kill() const noexcept;  // the shim itself
  // Kills the tree and waits for its end, for some seconds at most; then buries.
  void end_tree() noexcept;
  // After the end of the channel, or kill(): waits for its death. True: it ended by itself, so nothing is left of the tree.
  bool bury() noexcept;

 private:
  std::int32_t pid_ = 0;
  descriptor channel_;
};

}  // namespace looptask
