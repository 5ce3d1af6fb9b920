#include <gtest/gtest.h>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "host/descriptor.hpp"
#include "host/process_table.hpp"
#include "process/child_recorder.hpp"
#include "process/fifo.hpp"
#include "process/scratch.hpp"

namespace looptask {
namespace {

using namespace std::chrono_literals;

std::int64_t own_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}
using std::chrono::milliseconds;

// Living members of a session.
std::size_t members(std::int32_t session) {
  const auto all = list_processes();
  return static_cast<std::size_t>(std::count_if(
      all->begin(), all->end(), [session](const process_entry& one) { return one.session == session && one.state != 'Z'; }));
}

// This process has no child, not even a zombie.
bool childless() {
  siginfo_t any{};
  return ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

class ProcessPort : public testing::Test {
 protected:
  const scratch folder;
  real_host host;
  loop events{host};
  child_recorder one{events};
};

TEST_F(ProcessPort, TellsStepsInOrderAndWhoItIs) {
  one.shell("echo hello; sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20; exit 4");
  EXPECT_TRUE(one.steps.empty());  // never from inside spawn
  one.run_to_exit();
  ASSERT_EQ(one.steps.size(), 3U);
  EXPECT_EQ(one.steps.front(), "spawned");
  EXPECT_EQ(one.output, "hello\n" + std::to_string(one.who.start_time) + "\n");
  EXPECT_EQ(one.who.boot_id, host.clock().boot_id());
  EXPECT_EQ(one.exit->code, 4);
  EXPECT_FALSE(one.exit->signal);
  EXPECT_LE(one.exit->at, host.clock().monotonic());
}

TEST_F(ProcessPort, AFailedSpawnIsTheOnlyEvent) {
  one.spawn({"no-such-program"});
  one.run_to_exit();
  EXPECT_EQ(one.steps, std::vector<std::string>{"failed"});
  EXPECT_EQ(one.spawn_error, ENOENT);
  EXPECT_EQ(one.failed_step, "exec no-such-program (searched in PATH=/usr/bin:/bin)");
  one.child.reset();
  EXPECT_TRUE(childless());
}

TEST_F(ProcessPort, ReportsTheSignalThatEndedIt) {
  one.shell("kill -ABRT $$");
  one.run_to_exit();
  EXPECT_EQ(one.exit->signal, SIGABRT);
  EXPECT_FALSE(one.exit->code);
}

TEST_F(ProcessPort, MeasuresMemoryAndCpuTime) {
  // dash keeps the whole of a command substitution in memory
  const std::int64_t bytes = own_peak() + 60'000'000;
  one.shell("x=$(head -c " + std::to_string(bytes) + " /dev/zero | tr '\\0' x); :");
  one.run_to_exit();
  EXPECT_GE(one.exit->max_rss, bytes);
  EXPECT_LT(one.exit->max_rss, 10 * bytes);
  EXPECT_GT(one.exit->cpu, 0us);
}

TEST_F(ProcessPort, DoesNotCallItsOwnPeakOfMemoryThatOfASmallChild) {
  one.shell(":");
  one.run_to_exit();
  EXPECT_EQ(one.exit->max_rss, 0);
}

TEST_F(ProcessPort, AChildKeepsTheTimerSlackOfAnOrdinaryProcess) {
  one.spawn({"cat", "/proc/self/timerslack_ns"});
  one.run_to_exit();
  EXPECT_EQ(one.output, "50000\n");
}

TEST_F(ProcessPort, AnEndedChildIsReapedWhenItsHandleGoes) {
  one.shell("exit 0");
  one.run_to_exit();
  EXPECT_FALSE(childless());  // its pid stays taken as long as somebody may use it
  one.child->signal_group(SIGTERM);
  one.child.reset();
  EXPECT_TRUE(childless());
}

TEST_F(ProcessPort, AChildWithoutAHandleIsReapedWhenItEnds) {
  ASSERT_EQ(::mkfifo(folder.path("go").c_str(), 0600), 0);
  one.shell("echo up; read -r line < go; exit 1", folder.path());
  one.run_until([&] { return one.output == "up\n"; });
  one.child.reset();
  std::ofstream(folder.path("go")) << "go\n";
  // Its end is seen on the loop, and told to nobody.
  unique_function<void()> look = [&] {
    if (childless()) return events.stop();
    events.call_later(1ms, [&] { look(); });
  };
  look();
  events.run();
  EXPECT_EQ(one.steps, std::vector<std::string>{"spawned"});
  EXPECT_TRUE(childless());
}

TEST_F(ProcessPort, AHandleThatGoesBeforeTheChildCameLeavesNoChild) {
  one.shell("sleep 1000");
  one.child.reset();
  child_recorder next(events);
  next.shell("exit 0");  // started after the one before, if that was started at all
  next.run_to_exit();
  next.child.reset();
  unique_function<void()> look = [&] {
    if (childless()) return events.stop();
    events.call_later(1ms, [&] { look(); });
  };
  look();
  events.run();
  EXPECT_TRUE(one.steps.empty());
}

TEST_F(ProcessPort, KillReachesEveryGroupOfTheSession) {
  int up = 0;
  fifo words(events, folder.path("words"), [&](const std::string&) {
    if (++up == 3) one.kill();
  });
  // `timeout` makes a group of its own; ( & ) makes an orphan.
  folder.write_program("stay", "#!/bin/sh\necho up > words\nexec sleep 1000\n");
  one.shell("timeout 1000 ./stay & (./stay &) ; (trap '' TERM HUP; timeout 1000 ./stay & wait) & wait", folder.path());
  one.run_to_kill();
  EXPECT_EQ(one.left, 0);
  EXPECT_GE(one.killed, 5);
  EXPECT_EQ(members(one.who.pid), 0U);
  EXPECT_EQ(one.exit->signal, SIGKILL);
  one.child.reset();
  EXPECT_TRUE(childless());
}

TEST_F(ProcessPort, KillAfterTheMainProcessFindsTheOrphans) {
  one.shell("(sleep 1000 & sleep 1000) >/dev/null 2>&1 & exit 3");
  one.run_to_exit();
  EXPECT_EQ(one.exit->code, 3);
  one.kill();
  one.run_to_kill();
  EXPECT_GE(one.killed, 1);
  EXPECT_EQ(one.left, 0);
  EXPECT_EQ(members(one.who.pid), 0U);
}

TEST_F(ProcessPort, KillOfAnEmptySessionKillsNobody) {
  one.shell("exit 0");
  one.run_to_exit();
  one.kill();
  EXPECT_FALSE(one.killed);  // never from inside the call
  one.run_to_kill();
  EXPECT_EQ(one.killed, 0);
  EXPECT_EQ(one.left, 0);
  EXPECT_TRUE(childless());
}

TEST_F(ProcessPort, KillTwiceAnswersTwice) {
  one.shell("exec sleep 1000");
  one.run_until([&] { return !one.steps.empty(); });
  int answers = 0;
  one.child->kill_session([&](int, int) { ++answers; });
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(answers, 1);
  one.killed.reset();
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.killed, 0);
}

TEST_F(ProcessPort, KillOfAStoppedProcess) {
  one.shell("kill -STOP $$");
  one.run_until([&] { return !one.steps.empty(); });
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.exit->signal, SIGKILL);
}

// Each process starts the next and ends at once: a reading of /proc hardly ever meets one that still lives.
constexpr const char* chase = "trap '' TERM; f() { f & }; f >/dev/null 2>&1";

// The dead of a group may stay until the system reaps them, and what lives on makes new ones. What never goes is killed here.
bool goes_away(std::int32_t group) {
  std::set<std::int32_t> seen;
  int without_new = 0;
  for (int look = 0; look < 2000 && without_new < 10; ++look) {
    if (::kill(-group, 0) != 0) return true;
    ++without_new;
    const auto all = list_processes();
    for (const process_entry& one : *all)
      if (one.group == group && seen.insert(one.pid).second) without_new = 0;
  }
  if (without_new < 10) ::kill(-group, SIGKILL);
  return without_new == 10;
}

TEST_F(ProcessPort, KillReachesAProcessThatKeepsForkingAndEnding) {
  for (int i = 0; i < 20; ++i) {
    child_recorder child(events);
    child.shell(chase);
    child.run_to_exit();
    child.kill();
    child.run_to_kill();
    EXPECT_EQ(child.left, 0);
    ASSERT_TRUE(goes_away(child.who.pid));
  }
}

TEST_F(ProcessPort, KillReachesWhatKeepsForkingBesideTheMainProcess) {
  for (int i = 0; i < 20; ++i) {
    child_recorder child(events);
    child.shell("sh -c \"" + std::string(chase) + "\"; echo up; exec sleep 1000");
    child.run_until([&] { return child.output == "up\n"; });
    child.kill();
    child.run_to_kill();
    EXPECT_EQ(child.left, 0);
    ASSERT_TRUE(goes_away(child.who.pid));
  }
}

TEST_F(ProcessPort, ASessionOfAStrangerIsLeftAlone) {
  child_recorder other(events);
  other.shell("echo up; exec sleep 1000");
  other.run_until([&] { return other.output == "up\n"; });
  one.shell("exec sleep 1000");
  one.run_until([&] { return !one.steps.empty(); });
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(members(other.who.pid), 1U);
  other.kill();
  other.run_to_kill();
}

TEST_F(ProcessPort, AForeignWaitThatTakesTheStatusIsNoSuccess) {
  one.spawn({"sleep", "1000"});
  one.run_until([&] { return !one.steps.empty(); });
  ::kill(one.who.pid, SIGKILL);
  ASSERT_EQ(::waitpid(one.who.pid, nullptr, 0), one.who.pid);
  one.run_until([&] { return one.exit.has_value(); });
  EXPECT_FALSE(one.exit->code);
  EXPECT_FALSE(one.exit->signal);
}

TEST_F(ProcessPort, AfterAForeignWaitItsGroupIsNoLongerSignalledButItsSessionCanBeKilled) {
  one.shell("sh -c \"trap 'echo hit' TERM; echo up; while :; do sleep 0.01; done\" & exec sleep 1000");
  one.run_until([&] { return one.output == "up\n"; });
  ::kill(one.who.pid, SIGKILL);
  ASSERT_EQ(::waitpid(one.who.pid, nullptr, 0), one.who.pid);
  one.run_until([&] { return one.exit.has_value(); });
  one.child->signal_group(SIGTERM);  // the number may be anybody's by now
  bool later = false;
  events.call_later(50ms, [&] {
    later = true;
    events.stop();
  });
  while (!later) events.run_once();
  EXPECT_EQ(one.output, "up\n");
  one.kill();
  one.run_to_kill();
  EXPECT_GE(*one.killed, 1);
  EXPECT_EQ(members(one.who.pid), 0U);
}

TEST_F(ProcessPort, OrphansThatAreAdoptedChangeNoStatus) {
  // As in a container, where the service is the first process: whatever loses its parent becomes our child.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL), 0);
  one.shell("(exit 1) & (sh -c 'exit 2' &) ; (sleep 1000 >/dev/null 2>&1 &) ; exit 5");
  one.run_to_exit();
  one.kill();
  one.run_to_kill();
  ::prctl(PR_SET_CHILD_SUBREAPER, 0UL, 0UL, 0UL, 0UL);
  EXPECT_EQ(one.exit->code, 5);
  EXPECT_EQ(one.left, 0);
  while (::waitpid(-1, nullptr, 0) > 0) {  // ours to reap in this test: the port leaves strangers alone
  }
}

TEST_F(ProcessPort, AnOutputOfAnySizeNeedsNoMemory) {
  one.keep_output = false;
  one.spawn({"head", "-c", "400000000", "/dev/zero"});
  const auto resident = [] {
    long pages = 0;
    std::ifstream file("/proc/self/statm");
    file >> pages >> pages;
    return pages * ::sysconf(_SC_PAGESIZE);
  };
  one.run_until([&] { return one.output_size > 1'000'000; });
  const long before = resident();
  one.run_to_exit();
  EXPECT_EQ(one.output_size, 400'000'000U);
  EXPECT_LT(resident() - before, 8 * 1024 * 1024);
}

TEST_F(ProcessPort, ManyChildrenLeaveNothingBehind) {
  constexpr int count = 100;
  one.shell("exit 0");  // the threads and their descriptors exist from here on
  one.run_to_exit();
  one.child.reset();
  const std::size_t before = open_descriptors();
  std::vector<std::unique_ptr<child_recorder>> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(std::make_unique<child_recorder>(events));
    all.back()->shell("echo " + std::to_string(i) + "; exit " + std::to_string(i));
  }
  for (int i = 0; i < count; ++i) {
    all[static_cast<std::size_t>(i)]->run_to_exit();
    EXPECT_EQ(all[static_cast<std::size_t>(i)]->exit->code, i);
    EXPECT_EQ(all[static_cast<std::size_t>(i)]->output, std::to_string(i) + "\n");
  }
  all.clear();
  EXPECT_TRUE(childless());
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ProcessPort, AnIgnoredSigchldIsSetRightAtTheStart) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignore, &before);
  {
    real_host other;
    loop its(other);
    child_recorder child(its);
    child.shell("exit 6");
    child.run_to_exit();
    EXPECT_EQ(child.exit->code, 6);
  }
  ::sigaction(SIGCHLD, &before, nullptr);
}

TEST(ProcessPortEnd, AChildThatIsStillToStartWhenTheLoopGoesIsNotStarted) {
  real_host host;
  {
    loop events(host);
    std::vector<std::unique_ptr<child_recorder>> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(std::make_unique<child_recorder>(events));
      all.back()->shell("exec sleep 1000");
    }
    // What was started by now has not been told to anybody: it is killed.
    all.clear();
  }
  EXPECT_TRUE(childless());
}

TEST(ProcessPortEnd, WhatWasKilledJustBeforeTheLoopGoesIsReaped) {
  real_host host;
  {
    loop events(host);
    std::vector<std::unique_ptr<child_recorder>> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(std::make_unique<child_recorder>(events));
      all.back()->shell("exec sleep 1000");
    }
    for (const auto& one : all) one->run_until([&] { return !one->steps.empty(); });
    for (const auto& one : all) {
      if (one->who.pid % 2 == 0)
        one->child->signal_group(SIGKILL);
      else
        one->kill();
    }
  }
  EXPECT_TRUE(childless());
}

// At the limit of processes no thread can be made either; that is when killing matters most.
TEST(ProcessPortLimits, KillingNeedsNoNewThread) {
  const pid_t alone = ::fork();
  ASSERT_GE(alone, 0);
  if (alone == 0) {
    // Root has no such limit.
    if (::getuid() == 0 && (::setresgid(65531, 65531, 65531) != 0 || ::setresuid(65531, 65531, 65531) != 0)) ::_exit(1);
    real_host host;
    loop events(host);
    child_recorder child(events);
    child.spawn({"/bin/sh", "-c", "sleep 1000 & echo up; wait"}, {"PATH=/usr/bin:/bin", "LOOPTASK_RUN_ID=01LIMIT"});
    child.run_until([&] { return child.output == "up\n"; });
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NPROC, &none) != 0) ::_exit(2);
    child.kill();
    child.run_to_kill();
    if (child.left != 0 || child.exit->signal != SIGKILL) ::_exit(3);
    bool answered = false;
    host.processes().kill_leftovers({{"01LIMIT", std::nullopt}}, [&](int, int left) { answered = left == 0; });
    const loop_hold waiting = events.hold();
    while (!answered) events.run_once();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The shell ignores TERM and keeps a process in a group of its own.
constexpr const char* stubborn = "trap '' TERM; timeout 1000 sh -c 'echo up; exec sleep 1000' & wait; sleep 1000";

// As the test above, but no descriptor can be opened any more in any other thread of this process.
TEST(ProcessPortLimits, KillingNeedsNoFreeDescriptor) {
  const pid_t alone = ::fork();
  ASSERT_GE(alone, 0);
  if (alone == 0) {
    real_host host;
    loop events(host);
    std::vector<std::unique_ptr<child_recorder>> all;
    for (int i = 0; i < 10; ++i) {
      all.push_back(std::make_unique<child_recorder>(events));
      child_recorder& child = *all.back();
      child.spawn({"/bin/sh", "-c", stubborn}, {"PATH=/usr/bin:/bin", "LOOPTASK_RUN_ID=01FULL" + std::to_string(i)});
      child.run_until([&] { return child.output == "up\n"; });
    }
    const std::array spare{::dup(0), ::dup(0)};
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(::dup(0));
    ::close(static_cast<int>(limit.rlim_cur));
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || ::dup(0) >= 0) ::_exit(1);
    // All other threads are without; a sanitizer that has to look at an object needs two in this one.
    if (::unshare(CLONE_FILES) != 0) ::_exit(1);
    for (const int fd : spare) ::close(fd);
    std::optional<int> left_over;
    host.processes().kill_leftovers({{"01FULL9", std::nullopt}}, [&](int killed, int left) {
      left_over = killed >= 3 ? left : -1;
      events.stop();
    });
    while (!left_over) events.run_once();
    if (left_over != 0) ::_exit(2);
    for (const auto& child : all) child->kill();
    for (const auto& child : all) {
      child->run_to_kill();
      if (child->left != 0 || !child->exit || child->exit->signal != SIGKILL) ::_exit(3);
      if (&child != &all.back() && child->killed != 2) ::_exit(4);
    }
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    for (const auto& child : all)
      if (members(child->who.pid) != 0) ::_exit(5);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProcessPortLimits, AChildHasTheLimitOfDescriptorsFromBeforeItWasRaised) {
  const pid_t alone = ::fork();
  ASSERT_GE(alone, 0);
  if (alone == 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 200;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(1);
    real_host::raise_descriptor_limit();
    real_host::raise_descriptor_limit();
    rlimit raised{};
    ::getrlimit(RLIMIT_NOFILE, &raised);
    if (raised.rlim_cur != std::min<rlim_t>(limit.rlim_max, 65'536) || raised.rlim_max != limit.rlim_max) ::_exit(2);
    real_host host;
    loop events(host);
    const auto limit_of_a_child = [&] {
      child_recorder child(events);
      child.shell("ulimit -Sn");
      child.run_to_exit();
      return child.output;
    };
    if (limit_of_a_child() != "200\n") ::_exit(3);
    limit.rlim_cur = 300;  // the user of the library has another one in mind
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(4);
    ::_exit(limit_of_a_child() == "300\n" ? 0 : 5);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProcessPortThreads, LoopsOfSeveralThreadsSpawnSideBySide) {
  std::vector<descriptor> sockets;
  for (int i = 0; i < 500; ++i) sockets.emplace_back(::socket(AF_UNIX, SOCK_STREAM, 0));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      real_host host;
      loop events(host);
      for (int i = 0; i < 15; ++i) {
        child_recorder child(events);
        child.shell("ls /proc/$$/fd; sleep 1000 >/dev/null 2>&1 & exit " + std::to_string(thread));
        child.run_to_exit();
        child.kill();
        child.run_to_kill();
        EXPECT_EQ(child.output, "0\n1\n2\n");
        EXPECT_EQ(child.exit->code, thread);
        EXPECT_EQ(child.killed, 1);
        EXPECT_EQ(child.left, 0);
      }
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_TRUE(childless());
}

}  // namespace
}  // namespace looptask
