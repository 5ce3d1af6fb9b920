// A LoopTask loop inside of libuv's: libuv waits for its descriptor and, to the millisecond, for its next deadline.
#include <looptask/looptask.hpp>

#include <uv.h>

#include <cstdint>

#include "nested/work.hpp"

namespace {

class nested_loop {
 public:
  nested_loop(uv_loop_t* outer, looptask::loop& inner) : jobs(inner), inner_(inner) {
    uv_poll_init(outer, &ready_, inner.native_fd());
    uv_timer_init(outer, &alarm_);
    ready_.data = alarm_.data = this;
    uv_poll_start(&ready_, UV_READABLE, [](uv_poll_t* of, int, int) { static_cast<nested_loop*>(of->data)->turn(); });
    wait_for_deadline();
  }
  nested_loop(const nested_loop&) = delete;
  nested_loop& operator=(const nested_loop&) = delete;

  nested::work jobs;

 private:
  void turn() {
    inner_.poll();
    if (jobs.done()) {
      uv_close(reinterpret_cast<uv_handle_t*>(&ready_), nullptr);
      uv_close(reinterpret_cast<uv_handle_t*>(&alarm_), nullptr);
      return;
    }
    wait_for_deadline();
  }
  void wait_for_deadline() {
    const auto next = inner_.next_deadline();
    if (!next) return static_cast<void>(uv_timer_stop(&alarm_));
    uv_update_time(alarm_.loop);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - inner_.now()).count();
    const auto turn_of = [](uv_timer_t* of) { static_cast<nested_loop*>(of->data)->turn(); };
    uv_timer_start(&alarm_, turn_of, left > 0 ? static_cast<std::uint64_t>(left) : 0, 0);
  }

  looptask::loop& inner_;
  uv_poll_t ready_{};
  uv_timer_t alarm_{};
};

}  // namespace

int main() {
  looptask::real_host host;
  looptask::loop inner(host);
  uv_loop_t outer;
  uv_loop_init(&outer);
  {
    nested_loop both(&outer, inner);
    uv_run(&outer, UV_RUN_DEFAULT);
  }
  return uv_loop_close(&outer);
}
