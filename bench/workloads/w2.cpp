// W2, periodic tasks: N tasks, each due once a second at a phase of its own, for SECONDS. Lateness counts from the grid, so
// that drift would show.
//
// Also with timers that may be late by 100 us or 1 ms (loop::set_timer_slack), under names of their own.
//
// usage: w2 [N] [SECONDS] [--only exact|100us|1ms] [--count]
#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>
#include <looptask/sleep.hpp>
#include <looptask/task.hpp>

#include "allocations.hpp"

namespace looptask::bench {
namespace {

monotonic_time time_of(nanoseconds_count reading) { return monotonic_time(duration(reading)); }

task<> periodic(nanoseconds_count next, nanoseconds_count end, lateness& late) {
  for (; next < end; next += one_second) {
    co_await sleep_until(time_of(next));
    late.add(monotonic_now() - next);
  }
}

void measure(loop& where, const options& how, const char* peer, std::int64_t n, std::int64_t seconds) {
  draws draw;
  lateness late(n * seconds);
  const std::int64_t before = resident_bytes();
  const nanoseconds_count start = monotonic_now() + lead_time;
  for (std::int64_t i = 0; i < n; ++i) {
    spawn(where, periodic(start + draw.below(one_second), start + seconds * one_second, late));
  }
  where.run_once();  // all of them go to sleep
  const std::int64_t grown = resident_bytes() - before;

  const allocation_count counted;
  const stopwatch watch;
  where.run();
  const double cpu = watch.cpu();

  line result("w2", peer);
  result.put("n", n);
  late.put_in(result);
  result.put("cpu_s_per_M", cpu / 1e3 / static_cast<double>(late.count()))
      .put("fires", static_cast<double>(late.count()) / static_cast<double>(n * seconds));
  // Only the first loop of the process asks the system for the memory of its tasks.
  if (grown > n) result.put("task_bytes", static_cast<double>(grown) / static_cast<double>(n));
  counted.put_in(result, how, late.count());
  result.print();
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const options how(argc, argv);
  looptask::real_host host;
  if (how.wants("exact")) {
    looptask::loop loop(host);
    measure(loop, how, "looptask", how.number(0, 1000), how.number(1, 2));
  }
  if (how.wants("100us")) {
    looptask::loop loop(host);
    loop.set_timer_slack(std::chrono::microseconds(100));
    measure(loop, how, "looptask-100us", how.number(0, 1000), how.number(1, 2));
  }
  if (how.wants("1ms")) {
    looptask::loop loop(host);
    loop.set_timer_slack(std::chrono::milliseconds(1));
    measure(loop, how, "looptask-1ms", how.number(0, 1000), how.number(1, 2));
  }
}
