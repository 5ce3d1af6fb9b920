// The workloads on libev: ev_timer with callbacks.
// usage: libev w1|w2|w5 [NUMBER...]
#include <ev.h>

#include "peers/measured.hpp"

namespace looptask::bench {
namespace {

constexpr const char* peer = "libev";

double seconds_of(nanoseconds_count time) { return static_cast<double>(time) / 1e9; }

// ev_timer_init and ev_timer_set are macros that our warnings do not like.
void arm(struct ev_loop* loop, ev_timer& timer, void (*call)(struct ev_loop*, ev_timer*, int), double after,
         double repeat = 0) {
  timer.active = timer.pending = timer.priority = 0;
  timer.cb = call;
  timer.at = after;
  timer.repeat = repeat;
  ev_timer_start(loop, &timer);
}

struct ev_loop* new_loop() {
  struct ev_loop* const made = ev_loop_new(EVBACKEND_EPOLL);
  if (made == nullptr) std::abort();
  return made;
}

// ---- W1

void arm_and_cancel(std::int64_t n) {
  struct ev_loop* const loop = new_loop();
  draws draw;
  std::vector<double> delays(static_cast<std::size_t>(n));
  for (double& delay : delays) delay = seconds_of(draw.up_to(one_hour));
  const std::int64_t before = resident_bytes();
  std::vector<ev_timer> timers(delays.size());
  const stopwatch arming;
  const double* delay = delays.data();
  for (ev_timer& timer : timers)
    arm(
        loop, timer, [](struct ev_loop*, ev_timer*, int) {}, *delay++);
  const double armed = arming.cpu();
  const std::int64_t grown = resident_bytes() - before;
  const stopwatch cancelling;
  for (ev_timer& timer : timers) ev_timer_stop(loop, &timer);
  const double gone = cancelling.cpu();
  print_arm(peer, n, armed, gone, grown);
  ev_loop_destroy(loop);
}

struct churn_state {
  draws draw;
  std::int64_t fires = 0;
};

void on_churn(struct ev_loop* loop, ev_timer* timer, int) {
  auto& state = *static_cast<churn_state*>(timer->data);
  ++state.fires;
  arm(loop, *timer, on_churn, seconds_of(state.draw.up_to(churn_at_most)));
}

void run_for(struct ev_loop* loop, nanoseconds_count time) {
  const nanoseconds_count end = monotonic_now() + time;
  while (monotonic_now() < end) ev_run(loop, EVRUN_ONCE);
}

void w1(const options& how) {
  arm_and_cancel(how.number(0, 1'000'000));
  const std::int64_t live = how.number(1, 100'000);
  struct ev_loop* const loop = new_loop();
  churn_state state;
  std::vector<ev_timer> timers(static_cast<std::size_t>(live));
  ev_now_update(loop);
  for (ev_timer& timer : timers) {
    timer.data = &state;
    arm(loop, timer, on_churn, seconds_of(state.draw.up_to(churn_at_most)));
  }
  run_for(loop, one_second / 10);
  state.fires = 0;
  const stopwatch watch;
  run_for(loop, how.number(2, 1) * one_second);
  print_churn(peer, live, state.fires, watch);
}

// ---- W2

struct periodic_state {
  nanoseconds_count end;
  lateness& late;
};
struct periodic_task {
  ev_timer timer;
  nanoseconds_count next;
  periodic_state* state;
};

// A repeating timer of libev keeps to its grid.
void on_periodic(struct ev_loop* loop, ev_timer* timer, int) {
  auto& task = *static_cast<periodic_task*>(timer->data);
  task.state->late.add(monotonic_now() - task.next);
  task.next += one_second;
  if (task.next >= task.state->end) ev_timer_stop(loop, timer);
}

void w2(const options& how) {
  const std::int64_t n = how.number(0, 1000);
  const std::int64_t seconds = how.number(1, 2);
  struct ev_loop* const loop = new_loop();
  draws draw;
  lateness late(n * seconds);
  const std::int64_t before = resident_bytes();
  std::vector<periodic_task> tasks(static_cast<std::size_t>(n));
  ev_now_update(loop);
  const nanoseconds_count now = monotonic_now();
  const nanoseconds_count start = now + lead_time;
  periodic_state state{start + seconds * one_second, late};
  for (periodic_task& task : tasks) {
    task.next = start + draw.below(one_second);
    task.state = &state;
    task.timer.data = &task;
    arm(loop, task.timer, on_periodic, seconds_of(task.next - now), 1.);
  }
  ev_run(loop, EVRUN_NOWAIT);
  const std::int64_t grown = resident_bytes() - before;
  const stopwatch watch;
  ev_run(loop, 0);
  print_periodic(peer, n, seconds, late, watch.cpu(), grown);
}

// ---- W5

void w5(const options& how) {
  const std::int64_t n = how.number(0, 300);
  struct ev_loop* const loop = new_loop();
  lateness late(n);
  ev_timer timer{};
  const stopwatch watch;
  for (std::int64_t i = 0; i < n; ++i) {
    const nanoseconds_count due = monotonic_now() + one_millisecond;
    ev_now_update(loop);
    arm(
        loop, timer, [](struct ev_loop* of, ev_timer*, int) { ev_break(of, EVBREAK_ALL); }, 1e-3);
    ev_run(loop, 0);
    late.add(monotonic_now() - due);
  }
  print_sleep(peer, late, watch.cpu());
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  return run_workload(argc, argv, {{"w1", w1}, {"w2", w2}, {"w5", w5}});
}
