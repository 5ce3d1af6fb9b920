// A LoopTask loop inside of Asio's: Asio waits for its descriptor and its next deadline.
#include <looptask/looptask.hpp>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "nested/work.hpp"

namespace {

class nested_loop {
 public:
  nested_loop(asio::io_context& outer, looptask::loop& inner)
      : jobs(inner), inner_(inner), outer_(outer), ready_(outer, inner.native_fd()), alarm_(outer) {
    wait_for_descriptor();
    wait_for_deadline();
  }
  nested_loop(const nested_loop&) = delete;
  nested_loop& operator=(const nested_loop&) = delete;
  ~nested_loop() { ready_.release(); }  // it is the loop's own

  nested::work jobs;

 private:
  void wait_for_descriptor() {
    ready_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
      if (error) return;
      turn();
      wait_for_descriptor();
    });
  }
  void turn() {
    inner_.poll();
    if (jobs.done()) return outer_.stop();
    wait_for_deadline();
  }
  void wait_for_deadline() {
    const auto next = inner_.next_deadline();
    if (!next) return static_cast<void>(alarm_.cancel());
    alarm_.expires_at(std::chrono::steady_clock::time_point(next->time_since_epoch()));  // both count CLOCK_MONOTONIC
    alarm_.async_wait([this](const asio::error_code& error) {
      if (!error) turn();
    });
  }

  looptask::loop& inner_;
  asio::io_context& outer_;
  asio::posix::stream_descriptor ready_;
  asio::steady_timer alarm_;
};

}  // namespace

int main() {
  looptask::real_host host;
  looptask::loop inner(host);
  asio::io_context outer;
  nested_loop both(outer, inner);
  outer.run();
}
