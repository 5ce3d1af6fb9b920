#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/sink.h>

#include <memory>
#include <utility>

#include "service/log_sink.hpp"

namespace looptask::service {
namespace {

using say_losses = unique_function<std::string(instant, std::uint64_t)>;

// Runs on the worker thread only. Lines are lost while the queue is full, so there is always a line after them.
class line_sink final : public spdlog::sinks::sink {
 public:
  line_sink(unique_function<void(std::string_view)> out, say_losses say, spdlog::details::thread_pool& pool)
      : out_(std::move(out)), say_losses_(std::move(say)), pool_(pool) {}

  void log(const spdlog::details::log_msg& message) override {
    if (const std::uint64_t lost = pool_.overrun_counter(); lost != said_)
      out_(say_losses_(std::chrono::floor<microseconds>(message.time), lost - std::exchange(said_, lost)));
    out_({message.payload.data(), message.payload.size()});
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}  // lines come as they are to be
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  unique_function<void(std::string_view)> out_;
  say_losses say_losses_;
  spdlog::details::thread_pool& pool_;
  std::uint64_t said_ = 0;
};

class async_log final : public log_sink {
 public:
  async_log(unique_function<void(std::string_view)> out, std::size_t queue, say_losses say)
      : pool_(std::make_shared<spdlog::details::thread_pool>(queue, 1)),
        logger_(std::make_shared<spdlog::async_logger>("live",
                                                       std::make_shared<line_sink>(std::move(out), std::move(say), *pool_),
                                                       pool_, spdlog::async_overflow_policy::overrun_oldest)) {}

  // The pool first: its end waits for its thread, which takes what is queued, and only then may the logger and its sink go.
  ~async_log() override { pool_.reset(); }

  // The time is given, so the library never asks a clock.
  void write(instant when, std::string_view line) noexcept override {
    logger_->log(when, spdlog::source_loc{}, spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }

  std::uint64_t dropped() const noexcept override { return pool_->overrun_counter(); }

 private:
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<spdlog::async_logger> logger_;
};

}  // namespace

std::unique_ptr<log_sink> make_async_log(unique_function<void(std::string_view)> out, std::size_t queue,
                                         unique_function<std::string(instant, std::uint64_t)> say_dropped) {
  return std::make_unique<async_log>(std::move(out), queue, std::move(say_dropped));
}

}  // namespace looptask::service
