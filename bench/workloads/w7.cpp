// W7, processes: /bin/true K times, IN_FLIGHT at once, each with its output and its status, while a task of the same loop ticks
// every 5 ms: how far is it held up?
// usage: w7 [K] [IN_FLIGHT]
#include <chrono>

#include <looptask/loop.hpp>
#include <looptask/process.hpp>
#include <looptask/real_host.hpp>
#include <looptask/scope.hpp>
#include <looptask/sleep.hpp>
#include <looptask/task_group.hpp>

#include "workload.hpp"

namespace looptask::bench {
namespace {

struct progress {
  std::int64_t wanted;
  std::int64_t begun = 0;
  std::int64_t good = 0;
};

task<> runs(progress& all) {
  while (all.begun < all.wanted) {
    ++all.begun;
    process_spec spec{.argv = {"/bin/true"}, .env = {}, .workdir = "/"};
    const process_result result = co_await run_process(std::move(spec));
    all.good += result.exit.code == 0 && result.output.empty() ? 1 : 0;
  }
}

task<> ticker(tick_gaps& ticks) {
  while (true) {
    co_await sleep_for(duration(tick_gaps::period));
    ticks.tick();
  }
}

task<> all_runs(progress& all, std::int64_t in_flight, tick_gaps& ticks) {
  auto both = [&all, in_flight, &ticks](task_group& group) -> task<> {
    group.start(ticker(ticks));
    auto start_all = [&all, in_flight](task_group& running) -> task<> {
      for (std::int64_t i = 0; i < in_flight; ++i) running.start(runs(all));
      co_return;
    };
    co_await with_task_group(std::move(start_all));
    group.cancel();
  };
  co_await with_task_group(std::move(both));
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const options how(argc, argv);
  progress all{how.number(0, 500)};
  tick_gaps ticks;
  looptask::real_host host;
  looptask::loop loop(host);
  const nanoseconds_count children_before = children_cpu();
  const stopwatch watch;
  loop.run(all_runs(all, how.number(1, 16), ticks));
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  if (all.good != all.wanted) {
    std::fprintf(stderr, "w7: only %lld of %lld were good\n", static_cast<long long>(all.good),
                 static_cast<long long>(all.wanted));
    return 1;
  }
  const auto each = static_cast<double>(all.wanted);
  line result("w7", "looptask");
  result.put("n", all.wanted)
      .put("spawns_s", each / wall * 1e9)
      .put("loop_cpu_us", cpu / 1e3 / each)
      .put("child_cpu_us", static_cast<double>(children_cpu() - children_before) / 1e3 / each);
  ticks.put_in(result);
  result.print();
}
