#include "host/epoll_reactor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include "host/system_call.hpp"
#include "host/system_clock.hpp"

namespace looptask {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct heard final : readiness_handler {
  std::vector<readiness> calls;
  unique_function<void()> then;
  void on_ready(readiness ready) override {
    calls.push_back(ready);
    if (then) then();
  }
};

struct a_pair {
  descriptor here, there;
  a_pair() {
    int fds[2];
    checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), "socketpair");
    here = descriptor(fds[0]);
    there = descriptor(fds[1]);
  }
  void send() { checked(static_cast<int>(::write(there.get(), "x", 1)), "write"); }
};

struct EpollReactor : testing::TestWithParam<precise_wait> {
  system_clock clock;
  epoll_reactor reactor{clock, GetParam()};
  bool poll() { return reactor.wait(monotonic_time{}); }
};

TEST_P(EpollReactor, WaitsUntilTheDeadlineAndNeverLess) {
  for (const duration d : {duration(1), duration(microseconds(50)), duration(microseconds(999)), duration(milliseconds(3))}) {
    const monotonic_time until = clock.monotonic() + d;
    EXPECT_FALSE(reactor.wait(until));
    EXPECT_GE(clock.monotonic(), until);
  }
  EXPECT_EQ(reactor.how(), GetParam());
}

TEST_P(EpollReactor, AnEarlierDeadlineAfterALaterOneCounts) {
  a_pair p;
  heard h;
  reactor.watch(p.here.get(), readiness::read, h);
  p.send();
  EXPECT_TRUE(reactor.wait(clock.monotonic() + std::chrono::hours(1)));
  reactor.rewatch(p.here.get(), readiness::none);
  const monotonic_time until = clock.monotonic() + milliseconds(1);
  EXPECT_FALSE(reactor.wait(until));
  EXPECT_GE(clock.monotonic(), until);
  reactor.unwatch(p.here.get());
}

TEST_P(EpollReactor, AWakeEndsAWaitAndIsNotACall) {
  std::thread waker([this] { reactor.wake(); });
  EXPECT_FALSE(reactor.wait(std::nullopt));
  waker.join();
}

TEST_P(EpollReactor, AWakeBeforeTheWaitIsNotLost) {
  reactor.wake();
  EXPECT_FALSE(reactor.wait(std::nullopt));
}

TEST_P(EpollReactor, TellsReadAndWriteApart) {
  a_pair p;
  heard h;
  reactor.watch(p.here.get(), readiness::both, h);
  EXPECT_TRUE(poll());
  p.send();
  EXPECT_TRUE(poll());
  reactor.rewatch(p.here.get(), readiness::read);
  EXPECT_TRUE(poll());
  EXPECT_EQ(h.calls, (std::vector{readiness::write, readiness::both, readiness::read}));
  reactor.unwatch(p.here.get());
}

TEST_P(EpollReactor, IsLevelTriggered) {
  a_pair p;
  heard h;
  reactor.watch(p.here.get(), readiness::read, h);
  p.send();
  EXPECT_TRUE(poll());
  EXPECT_TRUE(poll());
  reactor.unwatch(p.here.get());
  EXPECT_FALSE(poll());
}

TEST_P(EpollReactor, AHangUpIsWhateverWasAskedFor) {
  a_pair p;
  heard h;
  reactor.watch(p.here.get(), readiness::write, h);
  p.there.reset();
  EXPECT_TRUE(poll());
  reactor.rewatch(p.here.get(), readiness::read);
  EXPECT_TRUE(poll());
  EXPECT_EQ(h.calls, (std::vector{readiness::write, readiness::read}));
  reactor.rewatch(p.here.get(), readiness::none);
  EXPECT_FALSE(poll());
  reactor.unwatch(p.here.get());
}

TEST_P(EpollReactor, AfterUnwatchNotEvenEventsOfTheSameWaitAreDelivered) {
  a_pair p;
  a_pair q;
  heard first;
  heard second;
  reactor.watch(p.here.get(), readiness::read, first);
  reactor.watch(q.here.get(), readiness::read, second);
  first.then = [&] { reactor.unwatch(q.here.get()); };
  second.then = [&] { reactor.unwatch(p.here.get()); };
  p.send();
  q.send();
  EXPECT_TRUE(poll());
  EXPECT_EQ(first.calls.size() + second.calls.size(), 1U);
  reactor.unwatch(first.calls.empty() ? q.here.get() : p.here.get());
}

// The second descriptor is closed and its number used anew by the handler of the first, within one batch of events.
TEST_P(EpollReactor, AReusedDescriptorGetsNoEventOfItsPredecessor) {
  a_pair p;
  a_pair q;
  a_pair fresh;
  heard first;
  heard stale;
  heard new_one;
  reactor.watch(p.here.get(), readiness::read, first);
  reactor.watch(q.here.get(), readiness::read, stale);
  const int number = q.here.get();
  bool swapped = false;
  const auto swap = [&](int other) {
    if (std::exchange(swapped, true)) return;
    reactor.unwatch(other);
    checked(::dup3(fresh.here.get(), other, O_CLOEXEC), "dup3");
    reactor.watch(other, readiness::read, new_one);
  };
  first.then = [&] { swap(number); };
  p.send();
  q.send();
  EXPECT_TRUE(poll());
  if (stale.calls.empty()) {  // the kernel reports in order of arrival; only then is this the case in question
    EXPECT_TRUE(new_one.calls.empty());
  }
  fresh.send();
  EXPECT_TRUE(poll());
  EXPECT_EQ(new_one.calls.size(), 1U);
  reactor.unwatch(number);
  reactor.unwatch(p.here.get());
}

TEST_P(EpollReactor, RefusesWhatCannotBeWatched) {
  const descriptor file(checked(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "open"));
  heard h;
  try {
    reactor.watch(file.get(), readiness::read, h);
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code().value(), EPERM);
  }
}

TEST_P(EpollReactor, ServesMoreDescriptorsThanOneBatchHolds) {
  std::vector<a_pair> pairs(300);
  heard h;
  for (a_pair& p : pairs) {
    reactor.watch(p.here.get(), readiness::read, h);
    p.send();
  }
  while (h.calls.size() < pairs.size()) ASSERT_TRUE(poll());
  for (const a_pair& p : pairs) reactor.unwatch(p.here.get());
}

INSTANTIATE_TEST_SUITE_P(Both, EpollReactor, testing::Values(precise_wait::epoll_pwait2, precise_wait::timerfd),
                         [](const auto& of) { return of.param == precise_wait::timerfd ? "Timerfd" : "EpollPwait2"; });

// From here on epoll_pwait2 fails with `error` in this process.
bool refuse_epoll_pwait2(unsigned error) {
  std::array<sock_filter, 4> rules{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_epoll_pwait2},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog program{rules.size(), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
         ::prctl(PR_SET_SECCOMP, static_cast<unsigned long>(SECCOMP_MODE_FILTER), &program, 0UL, 0UL) == 0;
}

// 0: all as it should be; else which step is not.
int wait_where_it_is_refused(unsigned error) {
  if (!refuse_epoll_pwait2(error)) return 1;
  system_clock clock;
  epoll_reactor reactor(clock);
  if (reactor.how() != precise_wait::epoll_pwait2) return 2;
  for (int i = 0; i < 2; ++i) {
    const monotonic_time until = clock.monotonic() + microseconds(700);
    if (reactor.wait(until)) return 3;
    if (clock.monotonic() < until) return 4;
    if (reactor.how() != precise_wait::timerfd) return 5;
  }
  a_pair p;
  heard h;
  reactor.watch(p.here.get(), readiness::read, h);
  p.send();
  if (!reactor.wait(std::nullopt) || h.calls.size() != 1) return 6;
  reactor.unwatch(p.here.get());
  return 0;
}

TEST(EpollReactorFallback, TakesATimerfdWhereTheKernelOrAFilterRefusesPreciseWaits) {
  for (const int error : {ENOSYS, EPERM}) {
    const pid_t alone = ::fork();
    ASSERT_GE(alone, 0);
    if (alone == 0) ::_exit(wait_where_it_is_refused(static_cast<unsigned>(error)));
    int status = 0;
    ASSERT_EQ(::waitpid(alone, &status, 0), alone);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << error;
  }
}

}  // namespace
}  // namespace looptask
