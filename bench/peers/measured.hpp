#pragma once
// Result lines of the workloads, for peers that are C++.
#include <cstdio>
#include <string>
#include <string_view>

#include "workloads/workload.hpp"

namespace looptask::bench {

inline void print_arm(std::string_view peer, std::int64_t n, double arming, double cancelling, std::int64_t grown) {
  const auto each = static_cast<double>(n);
  line("w1.arm", peer)
      .put("n", n)
      .put("arm_ns", arming / each)
      .put("cancel_ns", cancelling / each)
      .put("bytes", static_cast<double>(grown) / each)
      .print();
}

inline void print_churn(std::string_view peer, std::int64_t live, std::int64_t fires, const stopwatch& watch) {
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  line("w1.churn", peer)
      .put("n", live)
      .put("fires_s", static_cast<double>(fires) / wall * 1e9)
      .put("cpu_ns", cpu / static_cast<double>(fires))
      .print();
}

inline void print_periodic(std::string_view peer, std::int64_t n, std::int64_t seconds, lateness& late, double cpu,
                           std::int64_t grown) {
  line result("w2", peer);
  result.put("n", n);
  late.put_in(result);
  result.put("cpu_s_per_M", cpu / 1e3 / static_cast<double>(late.count()))
      .put("fires", static_cast<double>(late.count()) / static_cast<double>(n * seconds))
      .put("task_bytes", static_cast<double>(grown) / static_cast<double>(n))
      .print();
}

inline void print_idle(std::string_view peer, lateness& late) {
  line result("w4.idle", peer);
  late.put_in(result);
  result.print();
}

inline void print_posts(std::string_view peer, std::int64_t producers, std::int64_t posts, double wall, double cpu) {
  line("w4.post" + std::to_string(producers), peer)
      .put("posts_s", static_cast<double>(posts) / wall * 1e9)
      .put("cpu_ns", cpu / static_cast<double>(posts))
      .print();
}

inline void print_sleep(std::string_view peer, lateness& late, double cpu) {
  line result("w5", peer);
  late.put_in(result);
  result.put("cpu_us", cpu / 1e3 / static_cast<double>(late.count())).print();
}

// The first word of the command line names the workload.
struct workload_of_peer {
  std::string_view name;
  void (*run)(const options&);
};
template <std::size_t N>
int run_workload(int argc, char** argv, const workload_of_peer (&known)[N]) {
  for (const workload_of_peer& each : known) {
    if (argc < 2 || each.name != argv[1]) continue;
    each.run(options(argc - 1, argv + 1));
    return 0;
  }
  std::fprintf(stderr, "usage: %s WORKLOAD [NUMBER...], of these:", argv[0]);
  for (const workload_of_peer& each : known)
    std::fprintf(stderr, " %.*s", static_cast<int>(each.name.size()), each.name.data());
  std::fprintf(stderr, "\n");
  return 2;
}

}  // namespace looptask::bench
