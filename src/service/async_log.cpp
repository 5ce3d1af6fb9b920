#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/sink.h>

#include <atomic>
#include <memory>
#include <utility>

#include "service/log_sink.hpp"

namespace looptask::service {
namespace {

using say_losses = unique_function<std::string(instant, std::uint64_t)>;
using outlet = unique_function<std::size_t(std::string_view)>;

// Runs on the worker thread only, but for dropped() and a `done` that is set before it is asked for.
class line_sink final : public spdlog::sinks::sink {
 public:
  line_sink(outlet out, say_losses say, spdlog::details::thread_pool& pool)
      : out_(std::move(out)), say_losses_(std::move(say)), pool_(pool) {}

  // Lines that wait are lost while the queue is full, so there is always a line after them.
  void log(const spdlog::details::log_msg& message) override {
    const std::uint64_t lost = dropped();
    if (lost != said_ && write(say_losses_(std::chrono::floor<microseconds>(message.time), lost - said_))) said_ = lost;
    if (!write({message.payload.data(), message.payload.size()})) ++failed_;
  }
  void flush() override {
    if (done) std::exchange(done, {})();
  }
  void set_pattern(const std::string&) override {}  // lines come as they are to be
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

  std::uint64_t dropped() const noexcept { return pool_.overrun_counter() + failed_; }

  unique_function<void()> done;

 private:
  // Whether the whole line got through.
  bool write(std::string_view line) {
    if (torn_) {
      if (out_("\n") == 0) return false;
      torn_ = false;
    }
    const std::size_t taken = out_(line);
    torn_ = taken != 0 && taken < line.size();
    return taken == line.size();
  }

  outlet out_;
  say_losses say_losses_;
  spdlog::details::thread_pool& pool_;
  std::uint64_t said_ = 0;
  bool torn_ = false;  // what came out ends inside a line
  std::atomic<std::uint64_t> failed_ = 0;
};

class spd_log final : public async_log {
 public:
  spd_log(outlet out, std::size_t queue, say_losses say)
      : pool_(std::make_shared<spdlog::details::thread_pool>(queue, 1)),
        sink_(std::make_shared<line_sink>(std::move(out), std::move(say), *pool_)),
        logger_(std::make_shared<spdlog::async_logger>("live", sink_, pool_, spdlog::async_overflow_policy::overrun_oldest)) {}

  // The pool first: its end waits for its thread, which takes what is queued, and only then may the logger and its sink go.
  ~spd_log() override { pool_.reset(); }

  // The time is given, so the library never asks a clock.
  void write(instant when, std::string_view line) noexcept override {
    logger_->log(when, spdlog::source_loc{}, spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }

  std::uint64_t dropped() const noexcept override { return sink_->dropped(); }

  void when_out(unique_function<void()> done) override {
    LOOPTASK_ASSERT(!sink_->done, "when_out() is asked for again only when it has been answered");
    sink_->done = std::move(done);
    logger_->flush();
  }

 private:
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<line_sink> sink_;
  std::shared_ptr<spdlog::async_logger> logger_;
};

}  // namespace

std::unique_ptr<async_log> make_async_log(unique_function<std::size_t(std::string_view)> out, std::size_t queue,
                                          unique_function<std::string(instant, std::uint64_t)> say_dropped) {
  return std::make_unique<spd_log>(std::move(out), queue, std::move(say_dropped));
}

}  // namespace looptask::service
