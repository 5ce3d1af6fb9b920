#include "host/process_launcher.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include "process/child_recorder.hpp"
#include "process/lease.hpp"

namespace looptask {
namespace {

using namespace std::chrono_literals;

bool childless() {
  siginfo_t any{};
  return ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

process_spec program(std::string path) { return {{std::move(path)}, {"PATH=/usr/bin:/bin"}, "/"}; }

// What was reported, by ticket: the error, or 0.
class reports {
 public:
  process_launcher::report sink() {
    return [this](std::uint64_t ticket, launched child) {
      const std::lock_guard lock(mutex_);
      came_[ticket].push_back(child.error());
      changed_.notify_all();
    };  // `child` is killed and reaped here
  }
  std::vector<int> wait_for(std::uint64_t ticket) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return came_.contains(ticket); });
    return came_[ticket];
  }
  std::vector<int> of(std::uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    const auto found = came_.find(ticket);
    return found == came_.end() ? std::vector<int>{} : found->second;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, std::vector<int>> came_;
};

constexpr process_launcher::limits impatient{.patience = 10ms, .bound = 10s, .last_wait = 10s, .most = 3};

TEST(ProcessLauncher, ThoseBehindAStartThatHangsAreStarted) {
  leased_program hangs;
  reports came;
  process_launcher launcher(50'000, came.sink(), impatient);
  launcher.begin(1, program(hangs.path()));
  launcher.begin(2, program("true"));
  EXPECT_EQ(came.wait_for(2), std::vector{0});
  EXPECT_TRUE(came.of(1).empty());
  hangs.release();
  EXPECT_EQ(came.wait_for(1), std::vector{0});
}

TEST(ProcessLauncher, ManyThatHangTakeABoundedNumberOfThreads) {
  leased_program hangs;
  reports came;
  process_launcher launcher(50'000, came.sink(), impatient);
  launcher.begin(1, program(hangs.path()));
  launcher.begin(2, program("true"));
  came.wait_for(2);  // so the first is under way, and hangs
  for (std::uint64_t ticket = 3; ticket <= 6; ++ticket) launcher.begin(ticket, program(hangs.path()));
  launcher.begin(7, program("true"));
  launcher.stop(1);  // the next in line hangs in its place
  EXPECT_EQ(came.wait_for(1), std::vector{ECANCELED}) << "it was killed on its way to the program";
  EXPECT_TRUE(came.of(7).empty());
  hangs.release();
  for (std::uint64_t ticket = 3; ticket <= 7; ++ticket) EXPECT_EQ(came.wait_for(ticket), std::vector{0});
}

TEST(ProcessLauncher, AStartThatHangsIsEndedByAStopAndReportedOnce) {
  leased_program hangs;
  reports came;
  process_launcher::limits how = impatient;
  how.bound = 0ms;  // the answer of the watcher and the return of the start race
  {
    process_launcher launcher(50'000, came.sink(), how);
    for (std::uint64_t ticket = 1; ticket <= 20; ++ticket) {
      launcher.begin(ticket, program(hangs.path()));
      launcher.begin(100 + ticket, program("true"));
      came.wait_for(100 + ticket);  // so it is under way
      launcher.stop(ticket);
      launcher.stop(ticket);
      came.wait_for(ticket);
    }
  }
  for (std::uint64_t ticket = 1; ticket <= 20; ++ticket) EXPECT_EQ(came.of(ticket).size(), 1U);
  EXPECT_TRUE(childless());
}

TEST(ProcessLauncher, ItsEndDoesNotWaitForAStartThatHangs) {
  leased_program hangs;
  reports came;
  {
    process_launcher launcher(50'000, came.sink(), impatient);
    launcher.begin(1, program(hangs.path()));
    launcher.begin(2, program("true"));
    came.wait_for(2);
  }
  EXPECT_TRUE(came.of(1).empty());
  EXPECT_TRUE(childless());
}

TEST(ProcessLauncher, APortKillsAStartThatHangs) {
  leased_program hangs;
  real_host host;
  loop events(host);
  child_recorder one(events);
  child_recorder other(events);
  one.spawn({hangs.path()});
  other.shell("exit 3");
  other.run_to_exit();
  EXPECT_EQ(other.exit->code, 3);
  EXPECT_TRUE(one.steps.empty());
  one.kill();
  one.run_to_kill();
  EXPECT_EQ(one.left, 0);
  EXPECT_EQ(one.spawn_error, ECANCELED);
  EXPECT_FALSE(one.exit);
  one.child.reset();
  other.child.reset();
  EXPECT_TRUE(childless());
}

}  // namespace
}  // namespace looptask
