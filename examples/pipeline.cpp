// A pipeline of three stages over bounded channels: read numbers, work on several at once, write slowly. The last stage is the
// slowest, and through the channels it holds up the first, so that never more than a handful of numbers is in memory.
// usage: pipeline [NUMBERS [AT_ONCE [CAPACITY]]]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <looptask/looptask.hpp>

namespace {

using namespace std::chrono_literals;
using looptask::channel;
using looptask::channel_statistics;
using looptask::semaphore;
using looptask::task;
using looptask::task_group;

struct result {
  std::uint64_t number;
  unsigned steps;
};

// How many steps of Collatz's game take n to 1.
unsigned steps_to_one(std::uint64_t n) {
  unsigned steps = 0;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

task<> read_numbers(channel<std::uint64_t>& to, std::uint64_t count) {
  for (std::uint64_t n = 1; n <= count; ++n) co_await to.send(n);  // waits while the channel is full
  to.close();
}

// One number in work: asks, let us say, a server, which takes a millisecond. Gives its permit back when its result is accepted.
task<> work_on(std::uint64_t number, semaphore::permit permit, channel<result>& to) {
  co_await looptask::sleep_for(1ms);
  const result done{number, steps_to_one(number)};
  co_await to.send(done);
  permit.release();
}

task<> work(channel<std::uint64_t>& from, channel<result>& to, semaphore& at_once) {
  auto start_each = [&](task_group& group) -> task<> {
    while (true) {
      auto permit = co_await at_once.acquire();
      const std::optional<std::uint64_t> number = co_await from.receive();
      if (!number) break;
      group.start(work_on(*number, std::move(permit), to));
    }
  };
  co_await looptask::with_task_group(std::move(start_each));
  to.close();  // when the last one has been accepted
}

struct totals {
  std::uint64_t results = 0;
  std::uint64_t most_steps_of = 0;
  unsigned most_steps = 0;
};

task<> write_results(channel<result>& from, totals& all) {
  while (true) {
    const std::optional<result> next = co_await from.receive();
    if (!next) break;
    co_await looptask::sleep_for(2ms);  // a slow disk
    ++all.results;
    if (next->steps > all.most_steps) {
      all.most_steps = next->steps;
      all.most_steps_of = next->number;
    }
  }
}

void print(const char* name, const channel_statistics& of) {
  std::printf("%s: %llu passed, at most %zu held of %zu, the sender waited %llu times\n", name,
              static_cast<unsigned long long>(of.received), of.most_held, of.capacity,
              static_cast<unsigned long long>(of.senders.waited));
}

std::uint64_t argument(int argc, char** argv, int at, std::uint64_t otherwise) {
  return at < argc ? std::strtoull(argv[at], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argument(argc, argv, 1, 200);
  const std::uint64_t workers = argument(argc, argv, 2, 4);
  const std::uint64_t capacity = argument(argc, argv, 3, 8);
  if (workers == 0) {
    std::fputs("pipeline: AT_ONCE is 0; nobody would work: say how many numbers are worked on at the same time\n", stderr);
    return 2;
  }

  looptask::real_host host;
  looptask::loop loop(host);
  channel<std::uint64_t> numbers(capacity);
  channel<result> results(capacity);
  semaphore at_once(workers);
  totals all;
  auto stages = [&](task_group& group) -> task<> {
    group.start(read_numbers(numbers, count));
    group.start(work(numbers, results, at_once));
    group.start(write_results(results, all));
    co_return;
  };
  loop.run(looptask::with_task_group(std::move(stages)));

  print("numbers", numbers.statistics());
  print("results", results.statistics());
  std::printf("written: %llu results; %llu needs the most steps, %u\n", static_cast<unsigned long long>(all.results),
              static_cast<unsigned long long>(all.most_steps_of), all.most_steps);
}
