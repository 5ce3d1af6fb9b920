#include "host/process_launch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/quiet_thread.hpp"
#include "process/scratch.hpp"

namespace looptask {
namespace {

const std::string path = "PATH=/usr/bin:/bin";

launched launch_quietly(const process_spec& spec) {
  std::optional<launched> child;
  quiet_thread([&] { child.emplace(launch(spec)); }).join();
  return std::move(*child);
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 4096> chunk;
  pollfd readable{fd, POLLIN, 0};
  while (true) {
    ::poll(&readable, 1, -1);
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0) continue;
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

// What the program prints, once it has ended with 0.
std::string output_of(std::vector<std::string> argv, std::vector<std::string> env = {path}, std::string workdir = "/") {
  launched child = launch_quietly({std::move(argv), std::move(env), std::move(workdir)});
  EXPECT_EQ(child.error(), 0) << child.step();
  if (child.error() != 0) return {};
  const std::int32_t pid = child.pid();
  const launched::descriptors opened = child.release();
  std::string text = read_to_end(opened.output.get());
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << ": " << text;
  return text;
}

TEST(ProcessLaunch, GivesArgumentsAndExactlyTheEnvironmentAsked) {
  EXPECT_EQ(output_of({"env"}, {path, "A=with space", "EMPTY="}), "PATH=/usr/bin:/bin\nA=with space\nEMPTY=\n");
  EXPECT_EQ(output_of({"printf", "%s|", "", "a b", "$HOME"}), "|a b|$HOME|");
}

TEST(ProcessLaunch, OutputAndErrorShareOnePipeInOrder) {
  EXPECT_EQ(output_of({"sh", "-c", "echo a; echo b >&2; echo c"}), "a\nb\nc\n");
}

TEST(ProcessLaunch, StartsInItsFolderWithAnEmptyInput) {
  const scratch folder;
  EXPECT_EQ(output_of({"sh", "-c", "pwd -P; cat; umask"}, {path}, folder.path()), folder.path() + "\n0022\n");
}

TEST(ProcessLaunch, IsTheLeaderOfItsOwnSessionAndGroup) {
  // pid, group and session of the shell itself: fields 1, 5 and 6
  const std::string line = output_of({"sh", "-c", "cut -d' ' -f1,5,6 /proc/$$/stat"});
  std::array<int, 3> ids{};
  ASSERT_EQ(std::sscanf(line.c_str(), "%d %d %d", &ids[0], &ids[1], &ids[2]), 3) << line;
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0], ids[2]);
}

TEST(ProcessLaunch, NoSignalIsBlockedOrIgnored) {
  struct sigaction ignore {};
  struct sigaction before_pipe {};
  struct sigaction before_hup {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before_pipe);
  ::sigaction(SIGHUP, &ignore, &before_hup);
  const std::string text = output_of({"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"});
  ::sigaction(SIGPIPE, &before_pipe, nullptr);
  ::sigaction(SIGHUP, &before_hup, nullptr);
  EXPECT_EQ(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(ProcessLaunch, FindsAProgramInThePathOfTheChild) {
  const scratch folder;
  folder.write_program("bin/tool", "#!/bin/sh\necho found\n");
  EXPECT_EQ(output_of({"tool"}, {"PATH=" + folder.path() + "/bin:/bin"}), "found\n");
  // relative parts count from the child's folder
  EXPECT_EQ(output_of({"tool"}, {"PATH=/nowhere:bin:/bin"}, folder.path()), "found\n");
  EXPECT_EQ(output_of({"tool"}, {"PATH=/nowhere::/bin"}, folder.path() + "/bin"), "found\n");
  EXPECT_EQ(output_of({"bin/tool"}, {path}, folder.path()), "found\n");
}

TEST(ProcessLaunch, WorksWhenOurOwnStandardDescriptorsAreClosed) {
  const pid_t alone = ::fork();
  ASSERT_GE(alone, 0);
  if (alone == 0) {
    ::close(0);
    ::close(1);
    ::close(2);
    launched child = launch({{"sh", "-c", "echo out; echo err >&2; cat"}, {path}, "/"});
    if (child.error() != 0) ::_exit(1);
    const launched::descriptors opened = child.release();
    ::_exit(read_to_end(opened.output.get()) == "out\nerr\n" ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

struct failing {
  const char* name;
  std::vector<std::string> argv;
  std::string workdir;
  int error;
  std::string step;
};

TEST(ProcessLaunch, SaysWhichStepFailedAndWhy) {
  const scratch folder;
  folder.write("plain", "no program\n");
  folder.write_program("orphan", "#!/no/such/interpreter\n");
  folder.write_program("text", "echo a script without its first line\n");
  const std::string root = folder.path();
  const std::vector<failing> table = {
      {"missing", {"/no/such"}, "/", ENOENT, "exec /no/such"},
      {"missing in PATH", {"no-such-program"}, "/", ENOENT, "exec no-such-program (searched in PATH=/usr/bin:/bin)"},
      {"no permission", {root + "/plain"}, "/", EACCES, "exec " + root + "/plain"},
      {"a folder", {root}, "/", EACCES, "exec " + root},
      {"no interpreter",
       {root + "/orphan"},
       "/",
       ENOENT,
       "exec " + root + "/orphan (the file is there, its interpreter is not)"},
      {"no format", {"./text"}, root, ENOEXEC, "exec ./text"},
      {"no folder", {"/bin/true"}, root + "/gone", ENOENT, "chdir " + root + "/gone"},
      {"folder is a file", {"/bin/true"}, root + "/plain", ENOTDIR, "chdir " + root + "/plain"},
      {"NUL", {"/bin/true", std::string("a\0b", 3)}, "/", EINVAL, "a NUL in an argument, the environment or the folder"},
      {"empty name", {""}, "/", ENOENT, "exec  (searched in PATH=/usr/bin:/bin)"},
  };
  for (const failing& one : table) {
    const launched child = launch_quietly({one.argv, {path}, one.workdir});
    EXPECT_EQ(child.error(), one.error) << one.name;
    EXPECT_EQ(child.step(), one.step) << one.name;
  }
}

TEST(ProcessLaunch, AnEnvironmentThatIsTooBigFailsInExec) {
  std::vector<std::string> env{path};
  for (int i = 0; i < 100; ++i) env.push_back("V" + std::to_string(i) + "=" + std::string(100'000, 'x'));
  const launched child = launch_quietly({{"true"}, env, "/"});
  EXPECT_EQ(child.error(), E2BIG);
  EXPECT_EQ(child.step(), "exec /usr/bin/true");
}

TEST(ProcessLaunch, ReportsThatDescriptorsHaveRunOut) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const descriptor lowest_free(::dup(0));
  for (rlim_t room = 0; room < 8; ++room) {  // each step that needs a descriptor runs out of them once
    const rlimit few{static_cast<rlim_t>(lowest_free.get()) + 1 + room, before.rlim_max};
    std::optional<launched> made;
    quiet_thread([&] {  // the limit is for the launch alone: a sanitizer needs descriptors of its own to look at a thread
      ::setrlimit(RLIMIT_NOFILE, &few);
      made.emplace(launch({{"sleep", "1000"}, {path}, "/"}));
      ::setrlimit(RLIMIT_NOFILE, &before);
    })
        .join();
    const launched& child = *made;
    if (child.error() == 0) {
      EXPECT_GE(room, 5U);  // null, two pipes; at the end two pidfd-like ones in the place of the closed ones
      return;
    }
    EXPECT_EQ(child.error(), EMFILE);
    EXPECT_NE(child.step(), "");
  }
  ADD_FAILURE() << "eight free descriptors were not enough";
}

TEST(ProcessLaunch, ReportsThatProcessesHaveRunOut) {
  if (::getuid() != 0) GTEST_SKIP() << "changes to a user of its own: needs root";
  const pid_t alone = ::fork();
  ASSERT_GE(alone, 0);
  if (alone == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NPROC, &none);
    if (::setresuid(65533, 65533, 65533) != 0) ::_exit(1);
    const launched child = launch({{"true"}, {path}, "/"});
    ::_exit(child.error() == EAGAIN && child.step() == "fork" ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProcessLaunch, AChildThatNobodyTakesIsKilledAndReaped) {
  std::int32_t pid = 0;
  {
    const launched child = launch_quietly({{"sleep", "1000"}, {path}, "/"});
    ASSERT_EQ(child.error(), 0);
    pid = child.pid();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// 500 sockets are open, most of them without close-on-exec, and other threads open more all the time.
TEST(ProcessLaunch, NoDescriptorLeaksIntoAChildOfAnyThread) {
  std::vector<descriptor> sockets;
  for (int i = 0; i < 500; ++i) sockets.emplace_back(::socket(AF_UNIX, SOCK_STREAM | (i % 2 == 0 ? SOCK_CLOEXEC : 0), 0));
  for (const descriptor& one : sockets) ASSERT_TRUE(one);
  constexpr int threads = 8;
  constexpr int spawns = 20;
  std::array<std::vector<std::string>, threads> listings;
  std::vector<std::thread> spawners;
  for (auto& listing : listings) {
    spawners.push_back(quiet_thread([&listing] {
      for (int i = 0; i < spawns; ++i) {
        const descriptor more(::socket(AF_UNIX, SOCK_STREAM, 0));
        const std::string churn(1000 + static_cast<std::size_t>(i), 'x');  // the allocator's locks are busy, too
        launched child = launch({{"sh", "-c", "ls /proc/$$/fd; :"}, {path}, "/"});
        if (child.error() != 0) {
          listing.push_back(child.step());
          continue;
        }
        const std::int32_t pid = child.pid();
        const launched::descriptors opened = child.release();
        const std::string text = read_to_end(opened.output.get());
        ::waitpid(pid, nullptr, 0);
        listing.push_back(text);
      }
    }));
  }
  for (std::thread& one : spawners) one.join();
  for (const auto& listing : listings) {
    ASSERT_EQ(listing.size(), static_cast<std::size_t>(spawns));
    for (const std::string& text : listing) EXPECT_EQ(text, "0\n1\n2\n");
  }
}

}  // namespace
}  // namespace looptask
