// How late jobs that do nothing are called, how many a second, and what that costs: through the engine with the ledger in
// memory, against the bare timers of the same loop.
// usage: bench_lateness [STARTS PER SECOND, 0: 1,000 and 10,000] [SECONDS] [ROUNDS]
#include <functional>

#include <looptask/real_host.hpp>
#include <looptask/timer.hpp>

#include "noop_jobs.hpp"

namespace looptask::bench {
namespace {

figures figures_of(std::uint64_t starts, double seconds, double cpu_us, const std::vector<double>& lateness_us) {
  return {{"fires_per_s", static_cast<double>(starts) / seconds},
          {"lateness_p50_us", percentile(lateness_us, 0.5)},
          {"lateness_p99_us", percentile(lateness_us, 0.99)},
          {"cpu_us_per_fire", cpu_us / static_cast<double>(starts)}};
}

figures through_engine(std::int64_t rate, std::int64_t seconds) {
  real_host host;
  loop l(host);
  const auto history = ledger::make_memory_store(l);
  const noop_outcome seen = noop_jobs(l, *history, rate).run(seconds);
  return figures_of(seen.starts, seen.seconds, seen.cpu_us, seen.lateness_us);
}

class bare_timers {
 public:
  bare_timers(loop& where, std::int64_t count) : loop_(where) {
    const monotonic_time start = where.now();
    for (std::int64_t i = 0; i < count; ++i) {
      timers_.push_back(std::make_unique<one>(*this));
      timers_.back()->timer.arm(start + std::chrono::microseconds(1'000'000 * i / count));
    }
  }
  figures run(std::int64_t seconds) {
    std::chrono::steady_clock::time_point begin{};
    double cpu = 0, elapsed = 0;
    loop_.call_later(std::chrono::seconds(1), [&] {
      counting_ = true;
      begin = std::chrono::steady_clock::now();
      cpu = cpu_microseconds(RUSAGE_SELF);
    });
    loop_.call_later(std::chrono::seconds(1 + seconds), [&] {
      elapsed = seconds_since(begin);
      cpu = cpu_microseconds(RUSAGE_SELF) - cpu;
      loop_.stop();
    });
    loop_.run();
    return figures_of(lateness_us_.size(), elapsed, cpu, lateness_us_);
  }

 private:
  struct one {
    explicit one(bare_timers& all) : owner(all), timer(all.loop_, *this) {}
    void fire() { owner.fired(*this); }
    bare_timers& owner;
    timer_of<&one::fire> timer;
  };
  void fired(one& which) {
    const monotonic_time due = which.timer.deadline();
    if (counting_) {
      const duration late = loop_.where().clock().monotonic() - due;
      lateness_us_.push_back(static_cast<double>(late.count()) / 1000);
    }
    which.timer.arm(due + std::chrono::seconds(1));
  }

  loop& loop_;
  bool counting_ = false;
  std::vector<std::unique_ptr<one>> timers_;
  std::vector<double> lateness_us_;
};

figures through_timers(std::int64_t rate, std::int64_t seconds) {
  real_host host;
  loop l(host);
  return bare_timers(l, rate).run(seconds);
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const std::int64_t asked = argument(argc, argv, 1, 0), seconds = argument(argc, argv, 2, 2);
  const int rounds = static_cast<int>(argument(argc, argv, 3, 5));
  const std::vector<std::int64_t> rates = asked == 0 ? std::vector<std::int64_t>{1000, 10000} : std::vector{asked};
  for (const std::int64_t rate : rates) {
    compare<std::function<figures()>>(
        "lateness-" + std::to_string(rate), rounds,
        {{"engine", [=] { return through_engine(rate, seconds); }}, {"timers", [=] { return through_timers(rate, seconds); }}});
  }
  print_command(argc, argv);
}
