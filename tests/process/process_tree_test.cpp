#include <gtest/gtest.h>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/descriptor.hpp"
#include "host/process_shim.hpp"
#include "host/process_table.hpp"
#include "process/child_recorder.hpp"
#include "process/fifo.hpp"
#include "process/lease.hpp"
#include "process/scratch.hpp"

namespace looptask {
namespace {

using namespace std::chrono_literals;

bool childless() {
  siginfo_t any{};
  return ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// A process by its pidfd, so that nobody else is taken for it.
class stranger {
 public:
  explicit stranger(std::int32_t pid) : pid_(pid), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  std::int32_t pid() const { return pid_; }
  bool known() const { return static_cast<bool>(pidfd_); }
  bool alive() const {
    pollfd end{pidfd_.get(), POLLIN, 0};
    return ::poll(&end, 1, 0) == 0;
  }
  void wait_for_end() const {
    pollfd end{pidfd_.get(), POLLIN, 0};
    while (::poll(&end, 1, -1) < 0) {
    }
  }
  void kill(int signal) const { ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0); }

 private:
  std::int32_t pid_;
  descriptor pidfd_;
};

// The parent of a process, from its stat.
std::int32_t parent_of(std::int32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  char state = 0;
  std::int32_t parent = 0;
  rest >> state >> parent;
  if (parent <= 0) throw std::runtime_error("no process " + std::to_string(pid));
  return parent;
}

class ProcessTree : public testing::Test {
 protected:
  ProcessTree() {
    one.containment = containment_tier::tree;
    // `away WORD`: leaves the session by setsid and its parent by a double fork, then says that it is up, under its pid.
    folder.write_program("away", "#!/bin/sh\nsetsid sh -c './stay \"$1\" & ' away \"$1\" >/dev/null 2>&1\n");
    folder.write_program("stay", "#!/bin/sh\necho \"$1 $$\" > words\nexec sleep 1000 >/dev/null 2>&1\n");
    // The same, deaf to what can be refused.
    folder.write_program("deaf", "#!/bin/sh\ntrap '' TERM HUP INT QUIT\nexec setsid ./stay \"$1\"\n");
    folder.write_program("loner", "#!/bin/sh\n./deaf \"$1\" >/dev/null 2>&1 &\n");
  }

  // Runs the loop until all these words have come with a pid. They may come before the news that the child was spawned.
  void run_to(std::vector<std::string> awaited) {
    one.run_until([this, awaited] {
      const bool known = !one.child || one.who.pid != 0;
      return known && std::all_of(awaited.begin(), awaited.end(), [&](const std::string& word) { return up.contains(word); });
    });
  }
  void heard(const std::string& line) {
    const std::size_t blank = line.find(' ');
    up.emplace(line.substr(0, blank), stranger(std::stoi(line.substr(blank + 1))));
    one.look();
  }
  const stranger& process(const std::string& word) { return up.at(word); }

  const scratch folder;
  real_host host;
  loop events{host};
  std::map<std::string, stranger> up;
  child_recorder one{events};
  fifo words{events, folder.path("words"), [this](const std::string& line) { heard(line); }};
};

TEST_F(ProcessTree, TellsTheSameStepsAsWithoutAndWhoItIs) {
  one.shell("echo hello; sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20; exit 4");
  EXPECT_TRUE(one.steps.empty());
  one.run_to_exit();
  ASSERT_EQ(one.steps.size(), 3U);
  EXPECT_EQ(one.steps.front(), "spawned");
  EXPECT_EQ(one.output, "hello\n" + std::to_string(one.who.start_time) + "\n");
  EXPECT_EQ(one.who.boot_id, host.clock().boot_id());
  EXPECT_EQ(one.exit->code, 4);
  EXPECT_EQ(one.child->tier(), containment_tier::tree);
  EXPECT_EQ(host.processes().containment(), containment_tier::tree);
}

TEST_F(ProcessTree, TheChildFindsWhatAnyChildFinds) {
  child_recorder plain(events);
  const std::string look =
      "awk '$1 ~ /^Sig(Blk|Ign|Cgt)/' /proc/self/status; umask; pwd; ls /proc/$$/fd; cat "
      "/proc/$$/timerslack_ns;"
      "readlink /proc/$$/fd/0; ulimit -n; tr '\\0' ' ' < /proc/$$/environ; ps -o sid=,pgid= -p $$ | awk '{print $1==$2}'";
  plain.shell(look);
  plain.run_to_exit();
  one.shell(look);
  one.run_to_exit();
  EXPECT_EQ(one.output, plain.output);
  EXPECT_EQ(::getpgid(one.who.pid), one.who.pid);  // the zombie that keeps the name
  EXPECT_EQ(::getsid(one.who.pid), one.who.pid);
}

TEST_F(ProcessTree, AFailedExecIsTheOnlyEventAndSaysWhy) {
  folder.write("text", "no program\n");
  ::chmod(folder.path("text").c_str(), 0755);
  one.spawn({folder.path("text")});
  one.run_to_exit();
  EXPECT_EQ(one.steps, std::vector<std::string>{"failed"});
  EXPECT_EQ(one.spawn_error, ENOEXEC);
  EXPECT_EQ(one.failed_step, "exec " + folder.path("text"));
  one.child.reset();
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, AMissingFolderIsAFailedStart) {
  one.shell(":", folder.path("gone"));
  one.run_to_exit();
  EXPECT_EQ(one.spawn_error, ENOENT);
  EXPECT_EQ(one.failed_step, "chdir " + folder.path("gone"));
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, ReportsTheSignalThatEndedIt) {
  one.shell("kill -ABRT $$");
  one.run_to_exit();
  EXPECT_EQ(one.exit->signal, SIGABRT);
  EXPECT_FALSE(one.exit->code);
}

TEST_F(ProcessTree, KnowsThePeakOfASmallChild) {
  one.spawn({"/bin/true"});
  one.run_to_exit();
  EXPECT_GT(one.exit->max_rss, 100'000);
  EXPECT_LT(one.exit->max_rss, 20'000'000);
}

TEST_F(ProcessTree, SignalsReachTheGroupAndItsHandler) {
  one.shell("trap 'echo heard; exit 7' TERM; ./stay main & echo up; wait", folder.path());
  run_to({"main"});
  one.run_until([&] { return one.output == "up\n"; });
  one.child->signal_group(SIGTERM);
  one.run_to_exit();
  EXPECT_EQ(one.exit->code, 7);
  process("main").wait_for_end();
}

TEST_F(ProcessTree, KillReachesADoubleForkedChildInASessionOfItsOwn) {
  one.shell("./away a; ./away b; exec ./stay main", folder.path());
  run_to({"a", "b", "main"});
  EXPECT_NE(::getsid(process("a").pid()), one.who.pid);
  one.kill();
  EXPECT_FALSE(one.killed);
  one.run_to_kill();
  EXPECT_EQ(one.left, 0);
  EXPECT_EQ(one.killed, 2);
  EXPECT_FALSE(process("a").alive());
  EXPECT_FALSE(process("b").alive());
  EXPECT_EQ(one.exit->signal, SIGKILL);
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, KillAfterTheMainProcessReachesADaemonThatIgnoresEverything) {
  one.shell("./loner a; exit 3", folder.path());
  run_to({"a"});
  one.run_to_exit();
  EXPECT_EQ(one.exit->code, 3);
  EXPECT_TRUE(process("a").alive());
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.killed, 1);
  EXPECT_EQ(one.left, 0);
  EXPECT_FALSE(process("a").alive());
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, KillOfAnEmptyTreeKillsNobodyAndMayBeAskedAgain) {
  one.shell("exit 0");
  one.run_to_exit();
  for (int i = 0; i < 2; ++i) {
    one.killed.reset();
    one.kill();
    EXPECT_FALSE(one.killed);
    one.run_to_kill();
    EXPECT_EQ(one.killed, 0);
    EXPECT_EQ(one.left, 0);
    EXPECT_TRUE(childless());
  }
}

TEST_F(ProcessTree, KillTwiceAnswersTwice) {
  one.shell("exec sleep 1000");
  one.run_until([&] { return !one.steps.empty(); });
  int answers = 0;
  one.child->kill_session([&](int, int) { ++answers; });
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(answers, 1);
}

TEST_F(ProcessTree, KillReachesWhatKeepsForking) {
  for (int i = 0; i < 4; ++i) {
    child_recorder bomb(events);
    bomb.containment = containment_tier::tree;
    bomb.shell("trap '' TERM; f() { f & }; f >/dev/null 2>&1; (setsid sh -c 'f() { f & }; f') >/dev/null 2>&1; exit 0");
    bomb.run_to_exit();
    bomb.kill();
    bomb.run_to_kill();
    EXPECT_EQ(bomb.left, 0);
    EXPECT_TRUE(childless());
  }
}

// Each leaves the session of the one before, forks, and ends.
TEST_F(ProcessTree, KillReachesWhatKeepsForkingIntoNewSessions) {
  folder.write_program("run", "#!/bin/sh\nsetsid ./run &\n");
  one.shell("./run >/dev/null 2>&1; exit 0", folder.path());
  one.run_to_exit();
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.left, 0);
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, KillOfABroadTree) {
  one.shell(
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do setsid sleep 1000 >/dev/null 2>&1 & "
      "sleep 1000 >/dev/null 2>&1 & done; ./stay last >/dev/null 2>&1 & exec sleep 1000",
      folder.path());
  run_to({"last"});
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.left, 0);
  EXPECT_EQ(one.killed, 41);
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, OrphansThatEndAreReapedWhileTheMainProcessIsKept) {
  one.shell("./away a; ./away b; exit 0", folder.path());
  run_to({"a", "b"});
  one.run_to_exit();
  process("a").kill(SIGKILL);
  process("a").wait_for_end();
  process("b").kill(SIGKILL);
  process("b").wait_for_end();
  while (::kill(process("a").pid(), 0) == 0 || ::kill(process("b").pid(), 0) == 0) ::sched_yield();  // by the shim
  EXPECT_EQ(::kill(one.who.pid, 0), 0);
  one.child.reset();
}

TEST_F(ProcessTree, AChildWithoutAHandleIsReapedWithItsShimWhenAllOfItHasEnded) {
  ASSERT_EQ(::mkfifo(folder.path("go").c_str(), 0600), 0);
  one.shell("./away a; echo up; read -r line < go; exit 1", folder.path());
  run_to({"a"});
  one.run_until([&] { return one.output == "up\n"; });
  one.child.reset();
  { std::ofstream(folder.path("go")) << "go\n"; }
  stranger main(one.who.pid);
  if (main.known()) main.wait_for_end();
  EXPECT_TRUE(process("a").alive());  // nobody has asked for its death
  process("a").kill(SIGTERM);
  unique_function<void()> look = [&] {
    if (childless()) return events.stop();
    events.call_later(1ms, [&] { look(); });
  };
  look();
  events.run();
  EXPECT_EQ(one.steps, std::vector<std::string>{"spawned"});
}

TEST_F(ProcessTree, AHandleThatGoesBeforeTheChildCameLeavesNothing) {
  one.shell("exec sleep 1000");
  one.child.reset();
  unique_function<void()> look = [&] {
    if (childless()) return events.stop();
    events.call_later(1ms, [&] { look(); });
  };
  child_recorder next(events);
  next.shell("exit 0");
  next.run_to_exit();
  next.child.reset();
  look();
  events.run();
  EXPECT_TRUE(one.steps.empty());
}

TEST_F(ProcessTree, AStartThatHangsIsStopped) {
  leased_program hangs;
  one.spawn({hangs.path()});
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.spawn_error, ECANCELED);
  EXPECT_EQ(one.left, 0);
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, AStoppedShimDoesNotHoldUpTheKill) {
  one.shell("./away a; exec ./stay main", folder.path());
  run_to({"a", "main"});
  ::kill(parent_of(one.who.pid), SIGSTOP);
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.killed, 1);
  EXPECT_EQ(one.left, 0);
  EXPECT_FALSE(process("a").alive());
}

TEST_F(ProcessTree, AShimThatIsKilledIsNoticedAndTheSessionStillEnds) {
  one.shell("./away a; ./stay b & exec ./stay main", folder.path());
  run_to({"a", "b", "main"});
  const std::int32_t shim = parent_of(one.who.pid);
  ASSERT_NE(shim, ::getpid());
  ::kill(shim, SIGKILL);
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.child->tier(), containment_tier::session);
  EXPECT_EQ(one.left, 0);
  EXPECT_EQ(one.killed, 1);
  EXPECT_FALSE(process("b").alive());
  EXPECT_FALSE(one.exit->code);
  EXPECT_FALSE(one.exit->signal);     // whoever adopted it took the status
  EXPECT_TRUE(process("a").alive());  // out of reach, as tier() says
  process("a").kill(SIGKILL);
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, TheEndOfTheMainProcessIsToldAlsoWithoutItsShim) {
  ASSERT_EQ(::mkfifo(folder.path("go").c_str(), 0600), 0);
  one.shell("echo up; read -r line < go; exit 1", folder.path());
  one.run_until([&] { return one.output == "up\n"; });
  ::kill(parent_of(one.who.pid), SIGKILL);
  { std::ofstream(folder.path("go")) << "go\n"; }
  one.run_to_exit();
  EXPECT_TRUE(one.output_ended);
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.left, 0);
  EXPECT_EQ(one.killed, 0);
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, KillOfTheShimInTheMiddleOfAKillIsNoHang) {
  for (int i = 0; i < 30; ++i) {
    child_recorder child(events);
    child.containment = containment_tier::tree;
    child.shell("setsid sleep 1000 >/dev/null 2>&1 & echo up; exec sleep 1000");
    child.run_until([&] { return child.output == "up\n"; });
    const std::int32_t shim = parent_of(child.who.pid);
    child.kill();
    ::kill(shim, SIGKILL);
    child.run_to_kill();
    EXPECT_EQ(child.left, 0);
    EXPECT_TRUE(child.exit);
    EXPECT_TRUE(childless());
  }
}

TEST_F(ProcessTree, ShimKeepsNothingOfTheEnvironmentForOthersToSee) {
  one.spawn({"/bin/sh", "-c", "echo up; exec sleep 1000"}, {"PATH=/usr/bin:/bin", "LOOPTASK_RUN_ID=X", "SECRET=s3"});
  one.run_until([&] { return one.output == "up\n"; });
  const std::int32_t shim = parent_of(one.who.pid);
  const std::optional<std::string> seen = read_environment(shim);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->find("SECRET"), std::string::npos);
  EXPECT_FALSE(holds_variable(*seen, "LOOPTASK_RUN_ID=X"));
  one.kill();
  one.run_to_kill();
}

// A process with a loop of its own that starts the script and then does nothing but wait. It is killed by the caller.
std::int32_t fork_owner(const std::string& script, const std::string& where, bool end_with_us) {
  const pid_t owner = ::fork();
  if (owner != 0) return owner;
  real_host host;
  loop events(host);
  child_recorder child(events);
  child.containment = containment_tier::tree;
  child.end_with_us = end_with_us;
  child.shell(script, where);
  events.run();
  ::_exit(1);
}

void kill_and_reap(std::int32_t owner) {
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
}

TEST_F(ProcessTree, EndsWithItsOwnerIfAskedTo) {
  const std::int32_t owner = fork_owner("./away a; exec ./stay main", folder.path(), true);
  run_to({"a", "main"});
  kill_and_reap(owner);
  process("a").wait_for_end();
  process("main").wait_for_end();
}

TEST_F(ProcessTree, OutlivesItsOwnerIfNotAskedAndItsShimEndsWithIt) {
  const std::int32_t owner = fork_owner("./away a; exec ./stay main", folder.path(), false);
  run_to({"a", "main"});
  const stranger shim(parent_of(process("main").pid()));
  ASSERT_NE(shim.pid(), owner);
  kill_and_reap(owner);
  process("main").kill(SIGTERM);
  process("main").wait_for_end();
  EXPECT_TRUE(process("a").alive());
  EXPECT_TRUE(shim.alive());
  process("a").kill(SIGTERM);
  shim.wait_for_end();
}

TEST_F(ProcessTree, WhatIsBeingKilledWhenTheLoopGoesIsReaped) {
  {
    real_host other;
    loop short_lived(other);
    child_recorder child(short_lived);
    child.containment = containment_tier::tree;
    child.shell("setsid sleep 1000 >/dev/null 2>&1 & echo up; exec sleep 1000");
    child.run_until([&] { return child.output == "up\n"; });
    child.kill();
  }
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, WhatIsToEndWithUsEndsWithTheLoop) {
  std::int32_t stays = 0;
  {
    real_host other;
    loop short_lived(other);
    child_recorder child(short_lived);
    child.containment = containment_tier::tree;
    child.end_with_us = true;
    child.shell("setsid sleep 1000 >/dev/null 2>&1 & echo up; exec sleep 1000");
    child.run_until([&] { return child.output == "up\n"; });
    stays = child.who.pid;
  }
  EXPECT_TRUE(childless());
  EXPECT_EQ(::kill(stays, 0), -1);
}

TEST_F(ProcessTree, WhatHasEndedWhenTheLoopGoesIsReapedWithItsShim) {
  {
    real_host other;
    loop short_lived(other);
    child_recorder child(short_lived);
    child.containment = containment_tier::tree;
    child.shell("exit 0");
    child.run_to_exit();
  }
  EXPECT_TRUE(childless());
}

TEST_F(ProcessTree, AHundredTimesLeavesNoDescriptorAndNoZombie) {
  const auto once = [this](int i) {
    child_recorder child(events);
    child.containment = containment_tier::tree;
    child.shell("setsid sleep 1000 >/dev/null 2>&1 & exec sleep 1000");
    if (i % 3 != 0) child.run_until([&] { return !child.steps.empty(); });
    child.kill();
    child.run_to_kill();
    EXPECT_EQ(child.left, 0);
  };
  for (int i = 0; i < 10; ++i) once(i);  // what the host opens once and keeps
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) once(i);
  EXPECT_TRUE(childless());
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace looptask
