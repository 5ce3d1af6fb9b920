// Every entry of a loop but post, stop and handle says so when it is called on a thread that is not the loop's.
#include <sys/eventfd.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "task/world.hpp"

namespace looptask {
namespace {

struct nothing final : runnable {
  ~nothing() = default;
  void run() override {}
  void discard() noexcept override {}
};

struct beat {
  explicit beat(loop& l) : timer(l, *this) {}
  void now() {}
  timer_of<&beat::now> timer;
};

struct on_fd final : readiness_handler {
  void on_ready(readiness) override {}
};

// What a program has, made on the loop's thread.
struct program {
  looptask::loop& loop;
  cancel_scope scope{loop};
  cancel_scope with_deadline{loop};
  beat idle{loop};
  beat armed{loop};
  timer_handle later;
  loop_hold hold;
  on_fd handler;
  int fd = eventfd(0, EFD_CLOEXEC);
  semaphore doors{1};
  event door;

  explicit program(looptask::loop& l) : loop(l), hold(l.hold()) {
    armed.timer.arm_after(hours(1));
    later = loop.call_later(hours(1), [] {});
    with_deadline.cancel_after(hours(1));
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program() { close(fd); }
};

task<> rests() { co_await sleep_for(hours(1)); }

struct entry {
  const char* name;
  std::function<void(program&)> call;
};

std::ostream& operator<<(std::ostream& to, const entry& e) { return to << e.name; }

const entry entries[] = {
    {"call_soon", [](program& p) { p.loop.call_soon([] {}); }},
    {"call_soon_runnable",
     [](program& p) {
       nothing work;
       p.loop.call_soon(work);
     }},
    {"call_at", [](program& p) { p.loop.call_at(monotonic_time{}, [] {}); }},
    {"call_later", [](program& p) { p.loop.call_later(seconds(1), [] {}); }},
    {"call_idle", [](program& p) { p.loop.call_idle([] {}); }},
    {"now", [](program& p) { static_cast<void>(p.loop.now()); }},
    {"after", [](program& p) { static_cast<void>(p.loop.after(seconds(1))); }},
    {"watch", [](program& p) { p.loop.watch(p.fd, readiness::read, p.handler); }},
    {"rewatch", [](program& p) { p.loop.rewatch(p.fd, readiness::both); }},
    {"unwatch", [](program& p) { p.loop.unwatch(p.fd); }},
    {"hold", [](program& p) { static_cast<void>(p.loop.hold()); }},
    {"end_of_a_hold", [](program& p) { static_cast<void>(loop_hold(std::move(p.hold))); }},
    {"run", [](program& p) { p.loop.run(); }},
    {"run_once", [](program& p) { p.loop.run_once(); }},
    {"run_a_task", [](program& p) { p.loop.run(rests()); }},
    {"on_error", [](program& p) { p.loop.on_error([](const std::exception_ptr&) {}); }},
    {"report", [](program& p) { p.loop.report(nullptr); }},
    {"statistics", [](program& p) { static_cast<void>(p.loop.statistics()); }},
    {"end_of_the_loop", [](program& p) { p.loop.~loop(); }},
    {"arm", [](program& p) { p.idle.timer.arm(monotonic_time{}); }},
    {"arm_after", [](program& p) { p.idle.timer.arm_after(seconds(1)); }},
    {"cancel_a_timer", [](program& p) { p.armed.timer.cancel(); }},
    {"cancel_by_handle", [](program& p) { p.later.cancel(); }},
    {"spawn", [](program& p) { spawn(p.loop, rests()); }},
    {"spawn_in_a_scope", [](program& p) { spawn(p.loop, p.scope, rests(), [](outcome<>) {}); }},
    {"cancel_a_scope", [](program& p) { p.scope.cancel(); }},
    {"cancel_at", [](program& p) { p.scope.cancel_at(monotonic_time{}); }},
    {"cancel_after", [](program& p) { p.scope.cancel_after(seconds(1)); }},
    {"keep_open", [](program& p) { p.with_deadline.keep_open(); }},
};

struct WrongThread : testing::TestWithParam<entry> {};

TEST_P(WrongThread, Dies) {
  sim::world world{1};
  looptask::loop loop(world);
  program had(loop);
  EXPECT_DEATH(std::thread([&had] { GetParam().call(had); }).join(), "from a thread other than its owner");
}

INSTANTIATE_TEST_SUITE_P(Loop, WrongThread, testing::ValuesIn(entries),
                         [](const testing::TestParamInfo<entry>& of) { return std::string(of.param.name); });

// Inside of tasks, where the objects live in a frame.
struct WrongThreadInTask : in_a_world {
  template <class F>
  void elsewhere(F call) {
    std::thread(std::move(call)).join();
  }
};

TEST_F(WrongThreadInTask, StartingInAGroupDies) {
  EXPECT_DEATH(loop.run(with_task_group([this](task_group& g) -> task<> {
    elsewhere([&g] { g.start(rests()); });
    co_return;
  })),
               "from a thread other than its owner");
}

TEST_F(WrongThreadInTask, CancellingAGroupDies) {
  EXPECT_DEATH(loop.run(with_task_group([this](task_group& g) -> task<> {
    elsewhere([&g] { g.cancel(); });
    co_return;
  })),
               "from a thread other than its owner");
}

TEST_F(WrongThreadInTask, WakingATaskDies) {
  auto waits = [](semaphore& s) -> task<> { const auto permit = co_await s.acquire(); };
  EXPECT_DEATH(
      {
        semaphore doors(1);
        auto door = *doors.try_acquire();
        spawn(loop, waits(doors));
        loop.run_once();
        elsewhere([&door] { door.release(); });
      },
      "from a thread other than its owner");
}

TEST_F(WrongThreadInTask, PostAndStopAreForAllThreads) {
  const loop_hold until = loop.hold();
  elsewhere([this] {
    loop.post([this] { note("posted"); });
    loop.handle().post([this] { note("by handle"); });
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(order, (words{"posted", "by handle"}));
}

}  // namespace
}  // namespace looptask
