#pragma once
// Bytes that come at one end and go at the other, in one piece of memory: what reader and writer keep. Moves bytes only when at
// least as many have gone as stay, so each is moved a bounded number of times. Not thread-safe.
//
//   byte_queue waiting;
//   waiting.append("some bytes");
//   waiting.consume(send(waiting.view()));
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace looptask {

class byte_queue {
 public:
  std::size_t size() const noexcept { return end_ - begin_; }
  bool empty() const noexcept { return begin_ == end_; }
  std::string_view view() const noexcept { return std::string_view(bytes_).substr(begin_, end_ - begin_); }

  // Free memory for at least `least` bytes; commit() says how many of them have been filled.
  std::span<char> room(std::size_t least);
  void commit(std::size_t filled) noexcept;
  void append(std::string_view bytes);

  void consume(std::size_t count) noexcept;
  std::string take(std::size_t count);  // and consumes it

 private:
  std::string bytes_;  // all of it memory that may be used
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace looptask
