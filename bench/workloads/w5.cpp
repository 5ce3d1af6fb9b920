// W5, one task that sleeps 1 ms COUNT times: how late each sleep ends, and its processor time.
// usage: w5 [COUNT] [--count]
#include <chrono>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>
#include <looptask/sleep.hpp>
#include <looptask/task.hpp>

#include "allocations.hpp"

namespace looptask::bench {
namespace {

task<> naps(std::int64_t n, lateness& late) {
  for (std::int64_t i = 0; i < n; ++i) {
    const nanoseconds_count due = monotonic_now() + one_millisecond;
    co_await sleep_for(duration(one_millisecond));
    late.add(monotonic_now() - due);
  }
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const options how(argc, argv);
  const std::int64_t n = how.number(0, 300);
  looptask::real_host host;
  looptask::loop loop(host);
  lateness late(n);
  const allocation_count counted;
  const stopwatch watch;
  loop.run(naps(n, late));
  const double cpu = watch.cpu();
  line result("w5", "looptask");
  late.put_in(result);
  result.put("cpu_us", cpu / 1e3 / static_cast<double>(n));
  counted.put_in(result, how, n);
  result.print();
}
