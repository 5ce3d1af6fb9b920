// W3, the costs of tasks, in processor time: call (await a trivial coroutine), spawn (start one as a task and join it), yield
// (100 tasks in turn), future (make one, let a callback set it, await it), gather (GATHER tasks of a group under a semaphore of
// 100, each yields once), pingpong (there and back through two channels of capacity 1).
//
// usage: w3 [N] [GATHER] [--only call|spawn|yield|future|gather|pingpong] [--count]
#include <looptask/channel.hpp>
#include <looptask/future.hpp>
#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>
#include <looptask/semaphore.hpp>
#include <looptask/sleep.hpp>
#include <looptask/task.hpp>
#include <looptask/task_group.hpp>
#include <looptask/task_handle.hpp>

#include "allocations.hpp"

namespace looptask::bench {
namespace {

[[gnu::noinline]] task<> nothing() { co_return; }

task<> call(std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) co_await nothing();
}

task<> spawn_and_join(std::int64_t n) {
  loop& where = this_loop();
  for (std::int64_t i = 0; i < n; ++i) {
    task_handle<> started = start_task(where, nothing());
    co_await started.join();
  }
}

task<> yields(std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) co_await yield();
}
task<> yielding_in_turn(std::int64_t n) {
  constexpr std::int64_t tasks = 100;
  auto start_all = [n](task_group& group) -> task<> {
    for (std::int64_t i = 0; i < tasks; ++i) group.start(yields(n / tasks));
    co_return;
  };
  co_await with_task_group(std::move(start_all));
}

task<> set_and_wake(std::int64_t n) {
  loop& where = this_loop();
  for (std::int64_t i = 0; i < n; ++i) {
    auto [given, awaited] = make_promise<>(where);
    where.call_soon([to = std::move(given)]() mutable { to.set_value(); });
    co_await awaited;
  }
}

task<> limited(semaphore& limit) {
  const auto permit = co_await limit.acquire();
  co_await yield();
}
task<> gather(std::int64_t n) {
  semaphore limit(100);
  auto start_all = [n, &limit](task_group& group) -> task<> {
    for (std::int64_t i = 0; i < n; ++i) group.start(limited(limit));
    co_return;
  };
  co_await with_task_group(std::move(start_all));
}

task<> answers(channel<int>& questions, channel<int>& replies) {
  while (true) {
    const std::optional<int> question = co_await questions.receive();
    if (!question) break;
    co_await replies.send(*question);
  }
}
task<> pingpong(std::int64_t n) {
  channel<int> there(1);
  channel<int> back(1);
  auto both = [n, &there, &back](task_group& group) -> task<> {
    group.start(answers(there, back));
    for (std::int64_t i = 0; i < n; ++i) {
      co_await there.send(1);
      co_await back.receive();
    }
    there.close();
  };
  co_await with_task_group(std::move(both));
}

void measure(loop& where, const options& how, const char* part, std::int64_t n, task<> (*work)(std::int64_t)) {
  if (!how.wants(part)) return;
  const allocation_count counted;
  const stopwatch watch;
  where.run(work(n));
  const double cpu = watch.cpu();
  line result(std::string("w3.") + part, "looptask");
  result.put("ns", cpu / static_cast<double>(n));
  counted.put_in(result, how, n);
  result.print();
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const options how(argc, argv);
  const std::int64_t n = how.number(0, 1'000'000);
  looptask::real_host host;
  looptask::loop loop(host);
  measure(loop, how, "call", n, call);
  measure(loop, how, "spawn", n, spawn_and_join);
  measure(loop, how, "yield", n, yielding_in_turn);
  measure(loop, how, "future", n, set_and_wake);
  measure(loop, how, "gather", how.number(1, 100'000), gather);
  measure(loop, how, "pingpong", n, pingpong);
}
