// The workloads on libuv, whose timers count milliseconds: delays are rounded up.
// usage: libuv w1|w2|w4|w5|w6|w7 [NUMBER...]
#include <uv.h>

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "peers/measured.hpp"

namespace looptask::bench {
namespace {

constexpr const char* peer = "libuv";

std::uint64_t milliseconds_of(nanoseconds_count time) {
  return time <= 0 ? 0 : static_cast<std::uint64_t>((time + one_millisecond - 1) / one_millisecond);
}

template <class H>
uv_handle_t* handle_of(H& which) {
  return reinterpret_cast<uv_handle_t*>(&which);
}

void succeed(int status) {
  if (status == 0) return;
  std::fprintf(stderr, "libuv: %s\n", uv_strerror(status));
  std::abort();
}

class one_loop {
 public:
  one_loop() { succeed(uv_loop_init(&loop_)); }
  one_loop(const one_loop&) = delete;
  one_loop& operator=(const one_loop&) = delete;
  ~one_loop() {  // with all its handles
    uv_walk(
        &loop_,
        [](uv_handle_t* each, void*) {
          if (uv_is_closing(each) == 0) uv_close(each, nullptr);
        },
        nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    succeed(uv_loop_close(&loop_));
  }
  uv_loop_t* get() { return &loop_; }

 private:
  uv_loop_t loop_{};
};

// ---- W1

void arm_and_cancel(std::int64_t n) {
  std::vector<uv_timer_t> timers;
  one_loop loop;
  draws draw;
  std::vector<std::uint64_t> delays(static_cast<std::size_t>(n));
  for (auto& delay : delays) delay = milliseconds_of(draw.up_to(one_hour));
  const std::int64_t before = resident_bytes();
  timers.resize(delays.size());
  const stopwatch arming;
  const std::uint64_t* delay = delays.data();
  for (uv_timer_t& timer : timers) {
    uv_timer_init(loop.get(), &timer);
    uv_timer_start(
        &timer, [](uv_timer_t*) {}, *delay++, 0);
  }
  const double armed = arming.cpu();
  const std::int64_t grown = resident_bytes() - before;
  const stopwatch cancelling;
  for (uv_timer_t& timer : timers) uv_timer_stop(&timer);
  print_arm(peer, n, armed, cancelling.cpu(), grown);
}

struct churn_state {
  draws draw{};
  std::int64_t fires = 0;
};

void on_churn(uv_timer_t* timer) {
  auto& state = *static_cast<churn_state*>(timer->data);
  ++state.fires;
  uv_timer_start(timer, on_churn, milliseconds_of(state.draw.up_to(churn_at_most)), 0);
}

void run_for(uv_loop_t* loop, nanoseconds_count time) {
  const nanoseconds_count end = monotonic_now() + time;
  while (monotonic_now() < end) uv_run(loop, UV_RUN_ONCE);
}

void w1(const options& how) {
  arm_and_cancel(how.number(0, 1'000'000));
  const std::int64_t live = how.number(1, 100'000);
  std::vector<uv_timer_t> timers(static_cast<std::size_t>(live));
  one_loop loop;
  churn_state state;
  for (uv_timer_t& timer : timers) {
    uv_timer_init(loop.get(), &timer);
    timer.data = &state;
    uv_timer_start(&timer, on_churn, milliseconds_of(state.draw.up_to(churn_at_most)), 0);
  }
  run_for(loop.get(), one_second / 10);
  state.fires = 0;
  const stopwatch watch;
  run_for(loop.get(), how.number(2, 1) * one_second);
  print_churn(peer, live, state.fires, watch);
}

// ---- W2

struct periodic_state {
  nanoseconds_count end;
  lateness& late;
};
struct periodic_task {
  uv_timer_t timer;
  nanoseconds_count next;
  periodic_state* state;
};

void on_periodic(uv_timer_t* timer) {
  auto& task = *static_cast<periodic_task*>(timer->data);
  task.state->late.add(monotonic_now() - task.next);
  task.next += one_second;
  if (task.next >= task.state->end) uv_timer_stop(timer);
}

void w2(const options& how) {
  const std::int64_t n = how.number(0, 1000);
  const std::int64_t seconds = how.number(1, 2);
  std::vector<periodic_task> tasks;
  one_loop loop;
  draws draw;
  lateness late(n * seconds);
  const std::int64_t before = resident_bytes();
  tasks.resize(static_cast<std::size_t>(n));
  uv_update_time(loop.get());
  const nanoseconds_count now = monotonic_now();
  const nanoseconds_count start = now + lead_time;
  periodic_state state{start + seconds * one_second, late};
  for (periodic_task& task : tasks) {
    uv_timer_init(loop.get(), &task.timer);
    task.timer.data = &task;
    task.state = &state;
    task.next = start + draw.below(one_second);
    uv_timer_start(&task.timer, on_periodic, milliseconds_of(task.next - now), milliseconds_of(one_second));
  }
  uv_run(loop.get(), UV_RUN_NOWAIT);
  const std::int64_t grown = resident_bytes() - before;
  const stopwatch watch;
  uv_run(loop.get(), UV_RUN_DEFAULT);
  print_periodic(peer, n, seconds, late, watch.cpu(), grown);
}

// ---- W4: callbacks in a vector under a lock, and an async handle that is sent after each; libuv has no such queue itself.

class posted_work {
 public:
  explicit posted_work(uv_loop_t* loop) {
    succeed(uv_async_init(loop, &door_, [](uv_async_t* door) { static_cast<posted_work*>(door->data)->run(); }));
    door_.data = this;
  }
  void post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(work));
    }
    uv_async_send(&door_);
  }

 private:
  void run() {
    {
      const std::lock_guard lock(mutex_);
      taken_.swap(waiting_);
    }
    for (auto& work : taken_) work();
    taken_.clear();
  }
  uv_async_t door_{};
  std::mutex mutex_;
  std::vector<std::function<void()>> waiting_;
  std::vector<std::function<void()>> taken_;
};

void idle(std::int64_t posts) {
  std::unique_ptr<posted_work> door;
  one_loop loop;
  door = std::make_unique<posted_work>(loop.get());
  struct state {
    uv_loop_t* loop;
    lateness late;
    std::int64_t posts;
  } all{loop.get(), lateness(posts), posts};
  std::thread producer([&door, &all] {
    for (std::int64_t i = 0; i < all.posts; ++i) {
      const timespec gap{0, 200'000};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, nullptr);
      door->post([&all, posted = monotonic_now()] {
        all.late.add(monotonic_now() - posted);
        if (all.late.count() == all.posts) uv_stop(all.loop);
      });
    }
  });
  uv_run(loop.get(), UV_RUN_DEFAULT);
  producer.join();
  print_idle(peer, all.late);
}

void posts_of(std::int64_t posts, std::int64_t producers) {
  std::unique_ptr<posted_work> door;
  one_loop loop;
  door = std::make_unique<posted_work>(loop.get());
  const std::int64_t each = posts / producers;
  std::int64_t left = each * producers;
  uv_loop_t* const stopped = loop.get();
  const stopwatch watch;
  std::vector<std::thread> threads;
  for (std::int64_t p = 0; p < producers; ++p) {
    threads.emplace_back([&door, &left, stopped, each] {
      for (std::int64_t i = 0; i < each; ++i) {
        door->post([&left, stopped] {
          if (--left == 0) uv_stop(stopped);
        });
      }
    });
  }
  uv_run(loop.get(), UV_RUN_DEFAULT);
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

void w5(const options& how) {
  const std::int64_t n = how.number(0, 300);
  uv_timer_t timer{};
  one_loop loop;
  uv_timer_init(loop.get(), &timer);
  lateness late(n);
  const stopwatch watch;
  for (std::int64_t i = 0; i < n; ++i) {
    const nanoseconds_count due = monotonic_now() + one_millisecond;
    uv_update_time(loop.get());
    uv_timer_start(
        &timer, [](uv_timer_t*) {}, 1, 0);
    uv_run(loop.get(), UV_RUN_DEFAULT);
    late.add(monotonic_now() - due);
  }
  print_sleep(peer, late, watch.cpu());
}

// ---- W6

struct connection {
  uv_tcp_t socket{};
  char bytes[4096];
};
struct reply {
  explicit reply(const uv_buf_t& from, ssize_t size) : bytes(from.base, static_cast<std::size_t>(size)) {}
  uv_write_t request{};
  std::string bytes;
};

void on_bytes(uv_stream_t* stream, ssize_t size, const uv_buf_t* from) {
  if (size < 0) {
    uv_close(reinterpret_cast<uv_handle_t*>(stream), [](uv_handle_t* h) { delete static_cast<connection*>(h->data); });
    return;
  }
  uv_buf_t bytes = uv_buf_init(from->base, static_cast<unsigned>(size));
  const int written = uv_try_write(stream, &bytes, 1);
  if (written == size) return;
  // The rest has to wait until the client reads.
  auto* const rest = new reply(*from, size);
  rest->request.data = rest;
  if (written > 0) rest->bytes.erase(0, static_cast<std::size_t>(written));
  bytes = uv_buf_init(rest->bytes.data(), static_cast<unsigned>(rest->bytes.size()));
  succeed(uv_write(&rest->request, stream, &bytes, 1, [](uv_write_t* w, int) { delete static_cast<reply*>(w->data); }));
}

void on_connection(uv_stream_t* listener, int status) {
  succeed(status);
  auto* const made = new connection;
  succeed(uv_tcp_init(listener->loop, &made->socket));
  made->socket.data = made;
  auto* const stream = reinterpret_cast<uv_stream_t*>(&made->socket);
  succeed(uv_accept(listener, stream));
  succeed(uv_tcp_nodelay(&made->socket, 1));
  const auto give = [](uv_handle_t* h, std::size_t, uv_buf_t* room) {
    auto& of = *static_cast<connection*>(h->data);
    *room = uv_buf_init(of.bytes, sizeof of.bytes);
  };
  succeed(uv_read_start(stream, give, on_bytes));
}

void w6(const options&) {
  uv_tcp_t listener{};
  one_loop loop;
  succeed(uv_tcp_init(loop.get(), &listener));
  sockaddr_in address{};
  succeed(uv_ip4_addr("127.0.0.1", 0, &address));
  succeed(uv_tcp_bind(&listener, reinterpret_cast<const sockaddr*>(&address), 0));
  succeed(uv_listen(reinterpret_cast<uv_stream_t*>(&listener), 128, on_connection));
  int size = sizeof address;
  succeed(uv_tcp_getsockname(&listener, reinterpret_cast<sockaddr*>(&address), &size));
  std::printf("PORT %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  uv_run(loop.get(), UV_RUN_DEFAULT);
}

// ---- W7

struct progress {
  uv_loop_t* loop;
  std::int64_t wanted;
  std::int64_t begun = 0;
  std::int64_t good = 0;
};
struct child {
  explicit child(progress& all) : of(all) {}
  progress& of;
  uv_process_t process{};
  uv_pipe_t output{};
  int open = 2;
  char bytes[4096];
};

void begin_child(progress& all);

void one_closed(uv_handle_t* which) {
  auto* const ended = static_cast<child*>(which->data);
  if (--ended->open != 0) return;
  progress& all = ended->of;
  delete ended;
  if (all.begun < all.wanted) begin_child(all);
}

void begin_child(progress& all) {
  ++all.begun;
  auto* const made = new child(all);
  made->process.data = made->output.data = made;
  succeed(uv_pipe_init(all.loop, &made->output, 0));
  uv_stdio_container_t streams[3];
  streams[0].flags = UV_IGNORE;
  streams[1].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  streams[1].data.stream = reinterpret_cast<uv_stream_t*>(&made->output);
  streams[2].flags = UV_IGNORE;
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  char* environment[] = {nullptr};
  uv_process_options_t how{};
  how.file = program;
  how.args = arguments;
  how.env = environment;
  how.stdio = streams;
  how.stdio_count = 3;
  how.exit_cb = [](uv_process_t* ended, std::int64_t status, int) {
    static_cast<child*>(ended->data)->of.good += status == 0 ? 1 : 0;
    uv_close(handle_of(*ended), one_closed);
  };
  succeed(uv_spawn(all.loop, &made->process, &how));
  const auto give = [](uv_handle_t* h, std::size_t, uv_buf_t* room) {
    auto& of = *static_cast<child*>(h->data);
    *room = uv_buf_init(of.bytes, sizeof of.bytes);
  };
  const auto take = [](uv_stream_t* from, ssize_t size, const uv_buf_t*) {
    if (size < 0) uv_close(reinterpret_cast<uv_handle_t*>(from), one_closed);
  };
  succeed(uv_read_start(reinterpret_cast<uv_stream_t*>(&made->output), give, take));
}

void w7(const options& how) {
  uv_timer_t ticker{};
  one_loop loop;
  progress all{loop.get(), how.number(0, 500)};
  const std::int64_t in_flight = how.number(1, 16);
  tick_gaps ticks;
  uv_timer_init(loop.get(), &ticker);
  ticker.data = &ticks;
  const std::uint64_t period = milliseconds_of(tick_gaps::period);
  uv_timer_start(
      &ticker, [](uv_timer_t* t) { static_cast<tick_gaps*>(t->data)->tick(); }, period, period);
  uv_unref(handle_of(ticker));
  const nanoseconds_count children_before = children_cpu();
  const stopwatch watch;
  for (std::int64_t i = 0; i < in_flight && all.begun < all.wanted; ++i) begin_child(all);
  uv_run(loop.get(), UV_RUN_DEFAULT);
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  if (all.good != all.wanted) std::abort();
  const auto each = static_cast<double>(all.wanted);
  line result("w7", peer);
  result.put("n", all.wanted)
      .put("spawns_s", each / wall * 1e9)
      .put("loop_cpu_us", cpu / 1e3 / each)
      .put("child_cpu_us", static_cast<double>(children_cpu() - children_before) / 1e3 / each);
  ticks.put_in(result);
  result.print();
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  return run_workload(argc, argv, {{"w1", w1}, {"w2", w2}, {"w4", w4}, {"w5", w5}, {"w6", w6}, {"w7", w7}});
}
