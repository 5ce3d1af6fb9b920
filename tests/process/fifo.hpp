#pragma once
// How a child tells a test that it has come so far: it writes a word and a line break to a named pipe, and the test's handler
// is called with the word on the loop. Nobody has to wait by the clock.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <looptask/loop.hpp>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "host/descriptor.hpp"

namespace looptask {

class fifo final : readiness_handler {
 public:
  fifo(loop& where, std::string path, unique_function<void(const std::string&)> on_word)
      : loop_(where), path_(std::move(path)), on_word_(std::move(on_word)) {
    if (::mkfifo(path_.c_str(), 0666) != 0) throw std::runtime_error("mkfifo " + path_);
    ::chmod(path_.c_str(), 0666);
    end_ = descriptor(::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));  // a writer of our own: never an end of file
    if (!end_) throw std::runtime_error("open " + path_);
    loop_.watch(end_.get(), readiness::read, *this);
  }
  ~fifo() { loop_.unwatch(end_.get()); }
  fifo(const fifo&) = delete;
  fifo& operator=(const fifo&) = delete;

 private:
  void on_ready(readiness) override {
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(end_.get(), bytes.data(), bytes.size());
    if (got > 0) text_.append(bytes.data(), static_cast<std::size_t>(got));
    for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      const std::string word = text_.substr(0, end);
      text_.erase(0, end + 1);
      on_word_(word);
    }
  }

  loop& loop_;
  std::string path_;
  unique_function<void(const std::string&)> on_word_;
  descriptor end_;
  std::string text_;
};

}  // namespace looptask
