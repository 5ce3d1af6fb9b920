#include "cli/live_log.hpp"

#include <string>

#include "schedule/instant_text.hpp"

namespace looptask::cli {
namespace {

// About a second of the fullest log; what a terminal or a pipe does not take in that time is dropped, oldest first.
constexpr std::size_t queued_lines = 8192;
// How long the end waits for a reader that stalls.
constexpr duration patience = std::chrono::seconds(1);

}  // namespace

live_log::live_log(console& io, service::log_form form) : io_(io) {
  const auto say_dropped = [form](instant when, std::uint64_t lost) {
    const std::string number = std::to_string(lost);
    const std::string now = schedule::instant_text(when, schedule::fraction::milliseconds);
    if (form == service::log_form::text) return now + "  " + number + " lines of this log were dropped, nobody took them\n";
    return R"({"ts":")" + now + R"(","level":"warning","event":"log_dropped","lines":)" + number + "}\n";
  };
  log_ = service::make_async_log([&io](std::string_view line) { return io.err(line); }, queued_lines, say_dropped);
}

void live_log::finish(loop& home) {
  const loop_hold until_out = home.hold();
  timer_handle stalled = home.call_later(patience, [this] { io_.hurry(); });
  log_->when_out([loop = home.handle()] { loop.stop(); });
  home.run();
  stalled.cancel();
  log_.reset();
}

}  // namespace looptask::cli
