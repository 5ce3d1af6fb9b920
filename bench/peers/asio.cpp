// The workloads on Asio: callbacks in W1 and W4, coroutines elsewhere. A channel with 100 tokens in it stands for the semaphore
// and one of capacity 1 for the future: Asio has neither.
// usage: asio w1|w2|w3|w4|w5|w6 [NUMBER...]
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <thread>

#include "peers/measured.hpp"

namespace looptask::bench {
namespace {

constexpr const char* peer = "asio";
using asio::awaitable;
using asio::detached;
using asio::use_awaitable;
using clock = asio::steady_timer::clock_type;
using channel = asio::experimental::channel<void(asio::error_code, int)>;

clock::time_point time_of(nanoseconds_count reading) { return clock::time_point(std::chrono::nanoseconds(reading)); }

// ---- W1

void arm_and_cancel(std::int64_t n) {
  asio::io_context io(1);
  draws draw;
  std::vector<std::chrono::nanoseconds> delays(static_cast<std::size_t>(n));
  for (auto& delay : delays) delay = std::chrono::nanoseconds(draw.up_to(one_hour));
  const std::int64_t before = resident_bytes();
  std::vector<asio::steady_timer> timers;
  timers.reserve(delays.size());
  for (std::int64_t i = 0; i < n; ++i) timers.emplace_back(io);
  const stopwatch arming;
  const auto now = clock::now();
  for (std::size_t i = 0; i < timers.size(); ++i) {
    timers[i].expires_at(now + delays[i]);
    timers[i].async_wait([](asio::error_code) {});
  }
  const double armed = arming.cpu();
  const std::int64_t grown = resident_bytes() - before;
  const stopwatch cancelling;
  for (auto& timer : timers) timer.cancel();
  io.run();  // their handlers are told
  print_arm(peer, n, armed, cancelling.cpu(), grown);
}

class churning {
 public:
  churning(asio::io_context& io, draws& draw, std::int64_t& fires) : timer_(io), draw_(draw), fires_(fires) { arm(); }

 private:
  void arm() {
    timer_.expires_after(std::chrono::nanoseconds(draw_.up_to(churn_at_most)));
    timer_.async_wait([this](asio::error_code) {
      ++fires_;
      arm();
    });
  }
  asio::steady_timer timer_;
  draws& draw_;
  std::int64_t& fires_;
};

void w1(const options& how) {
  arm_and_cancel(how.number(0, 1'000'000));
  const std::int64_t live = how.number(1, 100'000);
  asio::io_context io(1);
  draws draw;
  std::int64_t fires = 0;
  std::vector<std::unique_ptr<churning>> timers;
  for (std::int64_t i = 0; i < live; ++i) timers.push_back(std::make_unique<churning>(io, draw, fires));
  io.run_for(std::chrono::milliseconds(100));
  fires = 0;
  const stopwatch watch;
  io.run_for(std::chrono::seconds(how.number(2, 1)));
  print_churn(peer, live, fires, watch);
}

// ---- W2

awaitable<void> periodic(asio::io_context& io, nanoseconds_count next, nanoseconds_count end, lateness& late) {
  asio::steady_timer timer(io);
  for (; next < end; next += one_second) {
    timer.expires_at(time_of(next));
    co_await timer.async_wait(use_awaitable);
    late.add(monotonic_now() - next);
  }
}

void w2(const options& how) {
  const std::int64_t n = how.number(0, 1000);
  const std::int64_t seconds = how.number(1, 2);
  asio::io_context io(1);
  draws draw;
  lateness late(n * seconds);
  const std::int64_t before = resident_bytes();
  const nanoseconds_count start = monotonic_now() + lead_time;
  for (std::int64_t i = 0; i < n; ++i) {
    asio::co_spawn(io, periodic(io, start + draw.below(one_second), start + seconds * one_second, late), detached);
  }
  io.poll();
  const std::int64_t grown = resident_bytes() - before;
  const stopwatch watch;
  io.run();
  print_periodic(peer, n, seconds, late, watch.cpu(), grown);
}

// ---- W3

[[gnu::noinline]] awaitable<void> nothing() { co_return; }

awaitable<void> call(asio::io_context&, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) co_await nothing();
}
awaitable<void> spawn(asio::io_context& io, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) co_await asio::co_spawn(io, nothing(), use_awaitable);
}
awaitable<void> yields(asio::io_context& io, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) co_await asio::post(io, use_awaitable);
}
awaitable<void> yielding_in_turn(asio::io_context& io, std::int64_t n) {
  for (int i = 0; i < 100; ++i) asio::co_spawn(io, yields(io, n / 100), detached);
  co_return;
}
awaitable<void> future(asio::io_context& io, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    channel made(io, 1);
    asio::post(io, [&made] { made.try_send(asio::error_code(), 1); });
    co_await made.async_receive(use_awaitable);
  }
}
awaitable<void> limited(asio::io_context& io, channel& tokens, std::int64_t& left, channel& all_done) {
  co_await tokens.async_receive(use_awaitable);
  co_await asio::post(io, use_awaitable);
  tokens.try_send(asio::error_code(), 0);
  if (--left == 0) all_done.try_send(asio::error_code(), 0);
}
awaitable<void> gather(asio::io_context& io, std::int64_t n) {
  channel tokens(io, 100);
  channel all_done(io, 1);
  for (int i = 0; i < 100; ++i) tokens.try_send(asio::error_code(), 0);
  std::int64_t left = n;
  for (std::int64_t i = 0; i < n; ++i) asio::co_spawn(io, limited(io, tokens, left, all_done), detached);
  co_await all_done.async_receive(use_awaitable);
}
awaitable<void> answers(channel& questions, channel& replies, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const int value = co_await questions.async_receive(use_awaitable);
    co_await replies.async_send(asio::error_code(), value, use_awaitable);
  }
}
awaitable<void> pingpong(asio::io_context& io, std::int64_t n) {
  channel there(io, 1);
  channel back(io, 1);
  channel over(io, 1);
  asio::co_spawn(io, answers(there, back, n), [&over](const std::exception_ptr&) { over.try_send(asio::error_code(), 0); });
  for (std::int64_t i = 0; i < n; ++i) {
    co_await there.async_send(asio::error_code(), 1, use_awaitable);
    co_await back.async_receive(use_awaitable);
  }
  co_await over.async_receive(use_awaitable);
}

void measure(const options& how, const char* part, std::int64_t n, awaitable<void> (*work)(asio::io_context&, std::int64_t)) {
  if (!how.wants(part)) return;
  asio::io_context io(1);
  const stopwatch watch;
  asio::co_spawn(io, work(io, n), detached);
  io.run();
  const double cpu = watch.cpu();
  line(std::string("w3.") + part, peer).put("ns", cpu / static_cast<double>(n)).print();
}

void w3(const options& how) {
  const std::int64_t n = how.number(0, 1'000'000);
  measure(how, "call", n, call);
  measure(how, "spawn", n, spawn);
  measure(how, "yield", n, yielding_in_turn);
  measure(how, "future", n, future);
  measure(how, "gather", how.number(1, 100'000), gather);
  measure(how, "pingpong", n, pingpong);
}

// ---- W4

void idle(std::int64_t posts) {
  asio::io_context io(1);
  const auto until_stopped = asio::make_work_guard(io);
  lateness late(posts);
  std::thread producer([&io, &late, posts] {
    for (std::int64_t i = 0; i < posts; ++i) {
      const timespec gap{0, 200'000};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, nullptr);
      asio::post(io, [&io, &late, posts, posted = monotonic_now()] {
        late.add(monotonic_now() - posted);
        if (late.count() == posts) io.stop();
      });
    }
  });
  io.run();
  producer.join();
  print_idle(peer, late);
}

void posts_of(std::int64_t posts, std::int64_t producers) {
  asio::io_context io(1);
  const auto until_stopped = asio::make_work_guard(io);
  const std::int64_t each = posts / producers;
  std::int64_t left = each * producers;
  const stopwatch watch;
  std::vector<std::thread> threads;
  for (std::int64_t p = 0; p < producers; ++p) {
    threads.emplace_back([&io, &left, each] {
      for (std::int64_t i = 0; i < each; ++i) {
        asio::post(io, [&io, &left] {
          if (--left == 0) io.stop();
        });
      }
    });
  }
  io.run();
  const double wall = watch.wall();
  for (std::thread& thread : threads) thread.join();
  print_posts(peer, producers, posts, wall, watch.cpu());
}

void w4(const options& how) {
  const std::int64_t posts = how.number(0, 2'000'000);
  idle(how.number(1, 2000));
  posts_of(posts, 1);
  posts_of(posts, 2);
}

// ---- W5

awaitable<void> naps(asio::io_context& io, std::int64_t n, lateness& late) {
  asio::steady_timer timer(io);
  for (std::int64_t i = 0; i < n; ++i) {
    const nanoseconds_count due = monotonic_now() + one_millisecond;
    timer.expires_after(std::chrono::nanoseconds(one_millisecond));
    co_await timer.async_wait(use_awaitable);
    late.add(monotonic_now() - due);
  }
}

void w5(const options& how) {
  const std::int64_t n = how.number(0, 300);
  asio::io_context io(1);
  lateness late(n);
  const stopwatch watch;
  asio::co_spawn(io, naps(io, n, late), detached);
  io.run();
  print_sleep(peer, late, watch.cpu());
}

// ---- W6

awaitable<void> echo(asio::ip::tcp::socket connection) {
  char bytes[4096];
  connection.set_option(asio::ip::tcp::no_delay(true));
  try {
    while (true) {
      const std::size_t size = co_await connection.async_read_some(asio::buffer(bytes), use_awaitable);
      co_await asio::async_write(connection, asio::buffer(bytes, size), use_awaitable);
    }
  } catch (const std::system_error&) {  // the client is gone
  }
}
awaitable<void> serve(asio::io_context& io) {
  asio::ip::tcp::acceptor listener(io, {asio::ip::address_v4::loopback(), 0});
  std::printf("PORT %d\n", listener.local_endpoint().port());
  std::fflush(stdout);
  while (true) {
    asio::ip::tcp::socket connection = co_await listener.async_accept(use_awaitable);
    asio::co_spawn(io, echo(std::move(connection)), detached);
  }
}
void w6(const options&) {
  asio::io_context io(1);
  asio::co_spawn(io, serve(io), detached);
  io.run();
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  return run_workload(argc, argv, {{"w1", w1}, {"w2", w2}, {"w3", w3}, {"w4", w4}, {"w5", w5}, {"w6", w6}});
}
