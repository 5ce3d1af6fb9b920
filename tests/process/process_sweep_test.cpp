#include <gtest/gtest.h>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>

#include "host/process_sweep.hpp"
#include "host/process_table.hpp"
#include "process/child_recorder.hpp"
#include "process/fifo.hpp"
#include "process/scratch.hpp"

namespace looptask {
namespace {

using namespace std::chrono_literals;

int first_processor() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  int number = 0;
  while (!CPU_ISSET(number, &allowed)) ++number;
  return number;
}

// Members of a session that run this program and are no zombies.
std::ptrdiff_t living(std::int32_t session, const std::string& program) {
  const auto all = list_processes();
  return std::count_if(all->begin(), all->end(), [&](const process_entry& each) {
    std::string name;
    std::ifstream("/proc/" + std::to_string(each.pid) + "/comm") >> name;
    return each.session == session && each.state != 'Z' && name == program;
  });
}

// "Left over" from an earlier life: started by the same port, but nobody tells the search that it is ours.
class Leftovers : public testing::Test {
 protected:
  struct answer {
    int killed = -1;
    int left = -1;
  };
  answer kill(std::vector<process_port::leftover> what) {
    answer got;
    const loop_hold waiting = events.hold();
    host.processes().kill_leftovers(std::move(what), [&](int killed, int left) {
      got = {killed, left};
      events.stop();
    });
    EXPECT_EQ(got.killed, -1);  // never from inside the call
    events.run();
    return got;
  }
  void start(child_recorder& child, const std::string& run_id, const std::string& line) {
    child.spawn({"/bin/sh", "-c", line}, {"PATH=/usr/bin:/bin", "LOOPTASK_RUN_ID=" + run_id, "LAST=1"});
    child.run_until([&] { return child.output.ends_with("up\n"); });
  }

  real_host host;
  loop events{host};
  child_recorder one{events};
  child_recorder other{events};
};

TEST_F(Leftovers, AreFoundByTheRunIdInTheirEnvironment) {
  // one of them has left the session
  start(one, "01AAA", "setsid sleep 1000 & sh -c 'echo up; exec sleep 1000'");
  start(other, "01AAAB", "echo up; exec sleep 1000");
  const answer got = kill({{"01AAA", std::nullopt}});
  EXPECT_EQ(got.killed, 3);
  EXPECT_EQ(got.left, 0);
  one.run_until([&] { return one.exit.has_value(); });
  EXPECT_EQ(one.exit->signal, SIGKILL);
  EXPECT_FALSE(other.exit);
  EXPECT_EQ(kill({{"01AAA", std::nullopt}, {"01AAAB", std::nullopt}}).killed, 1);
}

TEST_F(Leftovers, AreFoundByTheirSessionWhenTheEnvironmentIsGone) {
  start(one, "01BBB", "exec env -i PATH=/usr/bin:/bin sh -c 'sleep 1000 & echo up; wait'");
  const answer got = kill({{"01CCC", one.who}});
  EXPECT_EQ(got.killed, 2);
  EXPECT_EQ(got.left, 0);
}

// The leader is reaped, and nothing but the number of the session is left of it.
TEST_F(Leftovers, AreFoundWhenTheLeaderOfTheirSessionIsGone) {
  start(one, "01DDD", "env -i sleep 1000 & echo up");
  one.run_until([&] { return one.exit.has_value(); });
  process_identity who = one.who;
  one.child.reset();
  EXPECT_EQ(kill({{"", who, host.clock().boot()}}).killed, 1);
}

TEST_F(Leftovers, AreFoundWithoutALeaderWhenOneOfThemCarriesTheRunId) {
  start(one, "01DDE", "sleep 1000 & env -i sleep 1000 & echo up");
  one.run_until([&] { return one.exit.has_value(); });
  process_identity who = one.who;
  one.child.reset();
  EXPECT_EQ(kill({{"01DDE", who}}).killed, 2);
}

// As a stranger who was given the number later: started when the run was last known to be alive, or later.
TEST_F(Leftovers, WithoutALeaderTheSessionOfAStrangerIsNotTouched) {
  start(one, "01DDF", "env -i sleep 1000 & echo up");
  one.run_until([&] { return one.exit.has_value(); });
  process_identity who = one.who;
  one.child.reset();
  process_identity earlier = who;
  earlier.start_time -= 1000;
  const answer unknown = kill({{"01OTHER", earlier}});
  EXPECT_EQ(unknown.killed, 0);
  EXPECT_EQ(unknown.left, 0);
  EXPECT_EQ(kill({{"01OTHER", earlier, host.clock().boot() - 3600s}}).killed, 0);
  EXPECT_EQ(kill({{"", who, host.clock().boot()}}).killed, 1);
}

// A process that dies loses its memory, and with it its environment, before its files and locks. tail dies slowly here: it has
// much memory to give back, and a busy loop on the same processor leaves it, the nicest, little time for that.
TEST_F(Leftovers, AreWaitedForWhileTheyDie) {
  const std::string here = "taskset -c " + std::to_string(first_processor()) + " ";
  const std::string busy = "env -i " + here + "sh -c 'while :; do :; done' &";
  start(one, "01DYING",
        "{ head -c 60000000 /dev/zero; " + busy + " echo up >&2; exec sleep 1000; } | " + here +
            "nice -n 19 tail -n 1 >/dev/null");
  EXPECT_EQ(kill({{"01DYING", std::nullopt}}).left, 0);
  EXPECT_EQ(living(one.who.pid, "tail"), 0);
  one.kill();
  one.run_to_kill();
}

TEST_F(Leftovers, AStrangerWithTheSamePidIsNotTouched) {
  start(one, "01EEE", "echo up; exec sleep 1000");
  process_identity earlier = one.who;
  earlier.start_time -= 1;
  EXPECT_EQ(kill({{"", earlier}}).killed, 0);
  process_identity later = one.who;
  later.start_time += 1;
  EXPECT_EQ(kill({{"", later}}).killed, 0);
  process_identity other_boot = one.who;
  other_boot.boot_id = "of another boot";
  EXPECT_EQ(kill({{"", other_boot}}).killed, 0);
  EXPECT_EQ(kill({{"", one.who}}).killed, 1);
}

TEST_F(Leftovers, NothingToLookForIsAnsweredToo) {
  const answer got = kill({});
  EXPECT_EQ(got.killed, 0);
  EXPECT_EQ(got.left, 0);
}

TEST_F(Leftovers, SearchesUnderWayTogetherAreAnsweredEach) {
  start(one, "01FFF", "echo up; exec sleep 1000");
  start(other, "01GGG", "echo up; exec sleep 1000");
  int first = -1;
  int second = -1;
  const loop_hold waiting = events.hold();
  const auto check = [&] {
    if (first >= 0 && second >= 0) events.stop();
  };
  host.processes().kill_leftovers({{"01FFF", std::nullopt}}, [&](int killed, int) {
    first = killed;
    check();
  });
  host.processes().kill_leftovers({{"01GGG", std::nullopt}}, [&](int killed, int) {
    second = killed;
    check();
  });
  events.run();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

// A program with another owner's identity may not be signalled by an ordinary user: it is counted, and not waited for.
TEST(SweepWithoutPermission, WhatMayNotBeKilledIsReportedAsLeft) {
  if (::getuid() != 0) GTEST_SKIP() << "makes a program that changes its user: needs root";
  const scratch folder;
  std::filesystem::copy_file("/usr/bin/setpriv", folder.path("other-user"));
  ASSERT_EQ(::chmod(folder.path("other-user").c_str(), 04755), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  const pid_t alone = ::fork();
  ASSERT_GE(alone, 0);
  if (alone == 0) {
    if (::setresgid(65533, 65533, 65533) != 0 || ::setresuid(65533, 65533, 65533) != 0) ::_exit(1);
    real_host host;
    loop events(host);
    child_recorder child(events);
    child.shell("./other-user --reuid=65532 --clear-groups sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' & exit 0",
                folder.path());
    child.run_to_exit();
    std::ofstream(folder.path("pid")) << child.output;
    std::promise<std::pair<int, int>> answer;
    process_sweeper sweeper(24h, [&](std::uint64_t, int killed, int left) { answer.set_value({killed, left}); });
    process_sweeper::search what;
    what.ticket = 1;
    what.sessions.push_back({child.who.pid, child.who.start_time, 0, {}});
    sweeper.begin(std::move(what));
    ::_exit(answer.get_future().get() == std::pair(0, 1) ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ::kill(std::stoi(folder.read("pid")), SIGKILL);
}

}  // namespace
}  // namespace looptask
