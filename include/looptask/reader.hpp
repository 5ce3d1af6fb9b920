#pragma once
// Reads a stream in pieces that mean something: so many bytes, up to a delimiter, a line.
//
// Owner: the loop's thread; the stream stays open as long as the reader is used, and nobody else reads from it: the reader
// holds bytes that came early. One call at a time. Every call is a cancel point, also if all it asks for is buffered; a
// cancelled one, and one that exceeds its limit, has consumed nothing: what had come stays for the next. At the end of the
// stream what is incomplete comes with the exception. Errors of the stream as they are (std::system_error).
//
//   looptask::reader in(connection);
//   while (std::optional<std::string> line = co_await in.read_line()) use(*line);   // (await into a variable, for g++ 12)
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <looptask/byte_queue.hpp>
#include <looptask/stream.hpp>
#include <looptask/task.hpp>

namespace looptask {

// The stream ended in the middle of what was asked for.
class incomplete_read : public std::runtime_error {
 public:
  incomplete_read(const std::string& what, std::string partial)
      : std::runtime_error(what), partial_(std::make_shared<const std::string>(std::move(partial))) {}
  const std::string& partial() const noexcept { return *partial_; }  // the last bytes of the stream; consumed

 private:
  std::shared_ptr<const std::string> partial_;  // so that copying does not throw
};

// More bytes than the caller allows, and no delimiter among them. Nothing is consumed.
class limit_exceeded : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

class reader {
 public:
  static constexpr std::size_t default_limit = std::size_t{64} << 10U;  // bytes

  explicit reader(const stream& from) noexcept : from_(from.open_duplex()) {}
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  // What is there, at least one byte and at most as many as there is room for; 0 at the end.
  task<std::size_t> read_some(std::span<char> to);
  // Memory is taken as bytes come, not for what a peer announces. incomplete_read.
  task<std::string> read_exactly(std::size_t count);
  // Up to and including the first `delimiter`, which is not empty; together at most `limit` bytes. limit_exceeded,
  // incomplete_read.
  task<std::string> read_until(std::string delimiter, std::size_t limit = default_limit);
  // A line without its "\n" or "\r\n", with which it has at most `limit` bytes; the last one needs none. nullopt at the end.
  // limit_exceeded.
  task<std::optional<std::string>> read_line(std::size_t limit = default_limit);
  task<bool> at_end();  // waits until that is known

  std::string_view buffered() const noexcept { return buffer_.view(); }  // has come and is not consumed

 private:
  struct found {
    std::size_t size;  // with the delimiter; 0: the end came first
  };
  task<found> search(std::string_view delimiter, std::size_t limit);

  detail::duplex& from_;
  byte_queue buffer_;
};

}  // namespace looptask
