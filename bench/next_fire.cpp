// Next fire times: nine expressions in four zones, chains of ten from 2024-01-01: nanoseconds per next() and per parse. Fails
// if the sum of all results of one pass is another than it must be.
//
// usage: bench_next_fire [N]   (default 1000000 computations)
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "schedule/cron.hpp"

namespace {

using looptask::schedule::cron_expression;
using looptask::schedule::zone;

constexpr std::string_view expressions[] = {
    "* * * * *",   "*/5 * * * *",           "0 * * * *", "30 2 * * *", "0 9 * * mon-fri",
    "15 10 1 * *", "*/15 8-18 * * mon-fri", "0 0 1 1 *", "0 12 29 2 *"};

double nanoseconds_since(double start) { return (looptask::bench::cpu_microseconds(RUSAGE_SELF) - start) * 1e3; }

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t wanted = looptask::bench::argument(argc, argv, 1, 1'000'000);
  std::vector<zone> zones;
  for (const char* name : {"UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata"})
    zones.push_back(zone::load(name).value());

  constexpr std::int64_t parse_rounds = 10'000;
  std::vector<cron_expression> crons;
  double start = looptask::bench::cpu_microseconds(RUSAGE_SELF);
  for (std::int64_t round = 0; round < parse_rounds; ++round) {
    crons.clear();
    for (const auto text : expressions) crons.push_back(cron_expression::parse(text).value());
  }
  const double parse = nanoseconds_since(start) / static_cast<double>(parse_rounds * std::ssize(expressions));

  constexpr looptask::instant begin{std::chrono::seconds(1'704'067'200)};
  constexpr int chain = 10;
  const std::int64_t per_round = std::ssize(expressions) * std::ssize(zones) * chain;
  const std::int64_t rounds = std::max<std::int64_t>(1, wanted / per_round);
  std::int64_t checksum = 0;
  start = looptask::bench::cpu_microseconds(RUSAGE_SELF);
  for (std::int64_t round = 0; round < rounds; ++round) {
    checksum = 0;
    for (const auto& cron : crons) {
      for (const auto& where : zones) {
        looptask::instant at = begin;
        for (int i = 0; i < chain; ++i) {
          at = *cron.next(at, where);
          checksum += at.time_since_epoch().count() / 1'000'000;
        }
      }
    }
  }
  const double next = nanoseconds_since(start) / static_cast<double>(rounds * per_round);
  constexpr std::int64_t right = 643'532'947'200;  // seconds
  if (checksum != right) {
    std::fprintf(stderr, "next_fire: the results add up to %lld s instead of %lld s\n", static_cast<long long>(checksum),
                 static_cast<long long>(right));
    return 1;
  }
  looptask::bench::print("next_fire", "looptask", "result", {{"ns", next}, {"parse_ns", parse}});
  looptask::bench::print_command(argc, argv);
}
