// W4, other threads. w4.idle: a thread posts every 200 us to a loop that sleeps; how long until the loop has it. w4.post1,
// w4.post2: one or two threads post POSTS callbacks as fast as they can.
//
// usage: w4 [POSTS] [IDLE] [--only idle|post1|post2]
#include <thread>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include "workload.hpp"

namespace looptask::bench {
namespace {

void measure_idle(loop& where, std::int64_t posts) {
  lateness late(posts);
  const loop_hold until_stopped = where.hold();
  std::thread producer([&where, &late, posts] {
    for (std::int64_t i = 0; i < posts; ++i) {
      const timespec gap{0, 200'000};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, nullptr);
      where.post([&where, &late, posts, posted = monotonic_now()] {
        late.add(monotonic_now() - posted);
        if (late.count() == posts) where.stop();
      });
    }
  });
  where.run();
  producer.join();
  line result("w4.idle", "looptask");
  late.put_in(result);
  result.print();
}

void measure_posts(loop& where, std::int64_t posts, std::int64_t producers) {
  const std::int64_t each = posts / producers;
  std::int64_t left = each * producers;
  const loop_hold until_stopped = where.hold();
  const stopwatch watch;
  std::vector<std::thread> threads;
  for (std::int64_t p = 0; p < producers; ++p) {
    threads.emplace_back([&where, &left, each] {
      for (std::int64_t i = 0; i < each; ++i) {
        where.post([&where, &left] {
          if (--left == 0) where.stop();
        });
      }
    });
  }
  where.run();
  const double wall = watch.wall();
  for (std::thread& thread : threads) thread.join();
  const double cpu = watch.cpu();
  line result("w4.post" + std::to_string(producers), "looptask");
  result.put("posts_s", static_cast<double>(posts) / wall * 1e9).put("cpu_ns", cpu / static_cast<double>(posts)).print();
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const options how(argc, argv);
  const std::int64_t posts = how.number(0, 2'000'000);
  looptask::real_host host;
  looptask::loop loop(host);
  if (how.wants("idle")) measure_idle(loop, how.number(1, 2000));
  if (how.wants("post1")) measure_posts(loop, posts, 1);
  if (how.wants("post2")) measure_posts(loop, posts, 2);
}
