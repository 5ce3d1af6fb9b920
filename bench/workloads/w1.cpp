// W1, timers. w1.arm: arm N timers within the hour, cancel them all. w1.churn: LIVE timers, each armed anew up to 5 ms ahead
// when it fires, so that the loop never rests; as callbacks, and (peer looptask-coroutine) as tasks that sleep.
// usage: w1 [N] [LIVE] [SECONDS] [--only arm|callback|coroutine] [--count]
#include <chrono>
#include <memory>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>
#include <looptask/sleep.hpp>
#include <looptask/task.hpp>
#include <looptask/timer.hpp>

#include "allocations.hpp"

namespace looptask::bench {
namespace {

class idle_timer final : public timer {
 public:
  explicit idle_timer(loop& where) : timer(where) {}

 private:
  void on_timer() override {}
};

// So many objects side by side, made of the same arguments; like a vector, but its elements need not be movable.
template <class T>
class row {
 public:
  template <class... Args>
  row(std::int64_t size, Args&... args) : size_(static_cast<std::size_t>(size)), first_(std::allocator<T>().allocate(size_)) {
    for (T& each : *this) std::construct_at(&each, args...);
  }
  row(const row&) = delete;
  row& operator=(const row&) = delete;
  ~row() {
    std::destroy(begin(), end());
    std::allocator<T>().deallocate(first_, size_);
  }
  T* begin() { return first_; }
  T* end() { return first_ + size_; }

 private:
  std::size_t size_;
  T* first_;
};

void arm_and_cancel(loop& where, const options& how, std::int64_t n) {
  draws draw;
  std::vector<duration> delays(static_cast<std::size_t>(n));
  for (duration& delay : delays) delay = duration(draw.up_to(one_hour));
  const std::int64_t before = resident_bytes();
  row<idle_timer> timers(n, where);

  const allocation_count counted;
  const stopwatch arming;
  const monotonic_time now = where.now();
  const duration* delay = delays.data();
  for (timer& each : timers) each.arm(now + *delay++);
  const double armed = arming.cpu();

  const std::int64_t grown = resident_bytes() - before;
  const stopwatch cancelling;
  for (timer& each : timers) each.cancel();
  const double gone = cancelling.cpu();

  const auto each = static_cast<double>(n);
  line result("w1.arm", "looptask");
  result.put("n", n).put("arm_ns", armed / each).put("cancel_ns", gone / each).put("bytes", static_cast<double>(grown) / each);
  counted.put_in(result, how, n);
  result.print();
}

struct churn_state {
  loop& where;
  draws draw{};
  std::int64_t fires = 0;
  duration delay() { return duration(draw.up_to(churn_at_most)); }
};

class churning_timer final : public timer {
 public:
  explicit churning_timer(churn_state& state) : timer(state.where), state_(state) { arm_after(state_.delay()); }

 private:
  void on_timer() override {
    ++state_.fires;
    arm(state_.where.now() + state_.delay());
  }
  churn_state& state_;
};

task<> churning_task(churn_state& state) {
  while (true) {
    co_await sleep_for(state.delay());
    ++state.fires;
  }
}

void measure_churn(churn_state& state, const options& how, const char* peer, std::int64_t live, std::int64_t seconds) {
  loop& where = state.where;
  // What comes first is not yet the steady state: memory is found, and all of it starts at once.
  where.call_later(std::chrono::milliseconds(100), [&where] { where.stop(); });
  where.run();
  state.fires = 0;
  where.call_later(std::chrono::seconds(seconds), [&where] { where.stop(); });
  const allocation_count counted;
  const stopwatch watch;
  where.run();
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  const auto fires = static_cast<double>(state.fires);
  line result("w1.churn", peer);
  result.put("n", live).put("fires_s", fires / wall * 1e9).put("cpu_ns", cpu / fires);
  counted.put_in(result, how, state.fires);
  result.print();
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const options how(argc, argv);
  const std::int64_t live = how.number(1, 100'000);
  const std::int64_t seconds = how.number(2, 1);
  looptask::real_host host;
  if (how.wants("arm")) {
    looptask::loop loop(host);
    arm_and_cancel(loop, how, how.number(0, 1'000'000));
  }
  if (how.wants("callback")) {
    looptask::loop loop(host);
    churn_state state{loop};
    row<churning_timer> timers(live, state);
    measure_churn(state, how, "looptask", live, seconds);
  }
  if (how.wants("coroutine")) {
    looptask::loop loop(host);
    churn_state state{loop};
    for (std::int64_t i = 0; i < live; ++i) looptask::spawn(loop, churning_task(state));
    measure_churn(state, how, "looptask-coroutine", live, seconds);
  }
}
