#pragma once
// A console that keeps what is said and reads from a text. Main thread.
#include <string>
#include <string_view>
#include <utility>

#include "cli/console.hpp"

namespace looptask::cli {

class memory_console final : public console {
 public:
  explicit memory_console(std::string input = {}) : input_(std::move(input)) {}

  bool out(std::string_view bytes) override {
    said += bytes;
    return true;
  }
  bool flush() override { return true; }
  std::size_t err(std::string_view bytes) noexcept override {
    complained += bytes;
    return bytes.size();
  }
  void hurry() noexcept override {}
  bool read_line(std::string& line) override {
    if (input_.empty()) return false;
    const auto end = input_.find('\n');
    line = input_.substr(0, end);
    input_.erase(0, end == std::string::npos ? end : end + 1);
    return true;
  }
  bool out_is_terminal() const noexcept override { return false; }
  bool err_is_terminal() const noexcept override { return false; }
  int finish(int code) override { return code; }

  std::string said, complained;

 private:
  std::string input_;
};

}  // namespace looptask::cli
