#include "jobs/command.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "host/process_table.hpp"
#include "jobs/attempt_recorder.hpp"
#include "process/fifo.hpp"
#include "process/scratch.hpp"

namespace looptask::jobs {
namespace {

using namespace std::chrono_literals;

std::string whole(const engine::attempt_end& how) {
  EXPECT_EQ(how.output_dropped, 0U);
  return std::string(how.output_head) + std::string(how.output_tail);
}

class Command : public testing::Test {
 protected:
  command_options shell(std::string line) const {
    command_options options;
    options.argv = {"/bin/sh", "-c", std::move(line)};
    options.workdir = folder.path();
    return options;
  }
  engine::attempt_end run(command_options options) {
    const auto body = make_command(events, std::move(options));
    const engine::attempt_end how = recorder.run(*body);
    return how;
  }
  // Nothing of the last command's session is alive.
  bool nothing_left() const {
    const auto all = list_processes();
    for (const process_entry& one : all.value())
      if (one.session == recorder.process.value().pid && one.state != 'Z') return false;
    return true;
  }

  const scratch folder;
  real_host host;
  loop events{host};
  attempt_recorder recorder{events};
};

TEST_F(Command, EndsWithOutputExitCodeAndUsage) {
  const auto how = run(shell("echo out; echo err >&2"));
  EXPECT_EQ(how.result, run_result::success);
  EXPECT_EQ(how.error, "");
  EXPECT_EQ(how.exit_code, 0);
  EXPECT_EQ(how.signal, std::nullopt);
  EXPECT_EQ(whole(how), "out\nerr\n");
  EXPECT_FALSE(how.leftover_killed);
  EXPECT_TRUE(how.ended);
}

TEST_F(Command, CountsTheCpuTimeOfWhatTheMainProcessWaitedFor) {
  const auto how = run(shell("(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); :"));
  EXPECT_GE(how.cpu, 10ms);
}

TEST_F(Command, AnotherExitCodeIsAFailure) {
  const auto how = run(shell("exit 3"));
  EXPECT_EQ(how.result, run_result::failed);
  EXPECT_EQ(how.error, "exit code 3");
  EXPECT_EQ(how.exit_code, 3);
}

TEST_F(Command, OnlyTheListedCodesCountAsSuccess) {
  command_options options = shell("exit 3");
  options.success_codes = {0, 3};
  EXPECT_EQ(run(options).result, run_result::success);
}

TEST_F(Command, ZeroIsAFailureWhenItIsNotListed) {
  command_options options = shell("exit 0");
  options.success_codes = {3};
  EXPECT_EQ(run(options).error, "exit code 0");
}

TEST_F(Command, DeathByASignalIsNeverASuccess) {
  command_options options = shell("kill -SEGV $$");
  options.success_codes = {0, 11, 139};
  const auto how = run(options);
  EXPECT_EQ(how.result, run_result::failed);
  EXPECT_EQ(how.error, "killed by SIGSEGV");
  EXPECT_EQ(how.signal, SIGSEGV);
  EXPECT_EQ(how.exit_code, std::nullopt);
}

TEST_F(Command, RunsAProgramWithItsArgumentsUntouched) {
  command_options options;
  options.argv = {"printf", "%s|", "a b", "$HOME", "*"};
  options.workdir = "/";
  EXPECT_EQ(whole(run(options)), "a b|$HOME|*|");
}

TEST_F(Command, AProgramThatIsNotThereIsAFailedStart) {
  command_options options;
  options.argv = {"/no/such"};
  options.workdir = "/";
  const auto how = run(options);
  EXPECT_EQ(how.result, run_result::start_failed);
  EXPECT_EQ(how.error, "exec /no/such: No such file or directory (ENOENT)");
  EXPECT_FALSE(recorder.process);
}

TEST_F(Command, AFolderThatIsNotThereIsAFailedStart) {
  command_options options = shell("true");
  options.workdir = folder.path("gone");
  const auto how = run(options);
  EXPECT_EQ(how.result, run_result::start_failed);
  EXPECT_EQ(how.error, "chdir " + folder.path("gone") + ": No such file or directory (ENOENT)");
}

TEST_F(Command, TheEnvironmentIsMadeFromScratch) {
  ::setenv("LOOPTASK_TEST_SECRET", "x", 1);
  command_options options = shell("env | sort | grep -v -e ^PWD= -e ^_=");
  options.home = "/home/sample";
  options.inherited = {"INHERITED=1", "LANG=de_DE.UTF-8", "OVERRIDDEN=1"};
  options.env.emplace_back("OVERRIDDEN", text_template::literal("2"));
  options.env.emplace_back("LOG", std::get<text_template>(text_template::parse("${job}-${nominal:%F}.${attempt}")));
  options.env.emplace_back("LOOPTASK_JOB", text_template::literal("a lie"));
  EXPECT_EQ(whole(run(options)),
            "HOME=/home/sample\nINHERITED=1\nLANG=de_DE.UTF-8\nLOG=sample-2023-11-14.2\nLOOPTASK_ATTEMPT=2\n"
            "LOOPTASK_JOB=sample\nLOOPTASK_NOMINAL=2023-11-14T22:13:20.250Z\nLOOPTASK_RUN_ID=01HF00000000000000000000AB\n"
            "OVERRIDDEN=2\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n");
}

TEST_F(Command, ATemplateThatCannotBeFilledInIsThrownByStart) {
  command_options options = shell("true");
  options.env.emplace_back("TOKEN", std::get<text_template>(text_template::parse("${file:none}")));
  options.sources.folder = folder.path();
  const auto body = make_command(events, options);
  try {
    recorder.start(*body);
    FAIL() << "started";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("env.TOKEN: ${file:none}: ")) << error.what();
  }
}

TEST_F(Command, KeepsHeadAndTailOfALongOutput) {
  command_options options = shell("yes | head -c 3000000; echo end");
  options.output_limit = 1000;
  const auto how = run(options);
  EXPECT_EQ(how.output_head.size(), 500U);
  EXPECT_EQ(how.output_head.view().substr(0, 4), "y\ny\n");
  EXPECT_EQ(how.output_tail.size(), 500U);
  EXPECT_EQ(how.output_tail.view().substr(492), "y\ny\nend\n");
  EXPECT_EQ(how.output_dropped, 3'000'004U - 1000U);
}

TEST_F(Command, OutputInSingleBytesIsTheSame) {
  const auto how = run(shell("i=0; while [ $i -lt 3000 ]; do printf x; i=$((i+1)); done"));
  EXPECT_EQ(whole(how), std::string(3000, 'x'));
}

// Main exit, end of output and "nothing left alive" are three different events.
TEST_F(Command, AGrandchildThatKeepsTheOutputOpenDoesNotKeepTheRunOpen) {
  command_options options = shell("sleep 1000 & echo started");
  options.output_drain = 1ms;
  const auto how = run(std::move(options));
  EXPECT_EQ(how.result, run_result::success);
  EXPECT_TRUE(how.leftover_killed);
  EXPECT_EQ(whole(how), "started\n");
  EXPECT_TRUE(nothing_left());
}

TEST_F(Command, WhatLivesOnWithoutTheOutputIsKilled) {
  const auto how = run(shell("sleep 1000 >/dev/null 2>&1 & (sleep 1000 & exec sleep 1000) >/dev/null 2>&1 & :"));
  EXPECT_EQ(how.result, run_result::success);
  EXPECT_TRUE(how.leftover_killed);
  EXPECT_TRUE(nothing_left());
}

// The holder has left the session twice over, so nobody may kill it; the run ends all the same.
TEST_F(Command, AStrangerThatHoldsTheOutputIsNotWaitedFor) {
  std::string stranger;
  fifo words(events, folder.path("words"), [&](const std::string& word) { stranger = word; });
  command_options options =
      shell("mkfifo up; setsid sh -c 'echo $$ > words; echo x > up; exec sleep 1000' & read -r line < up");
  options.output_drain = 1ms;
  const auto how = run(std::move(options));
  EXPECT_EQ(how.result, run_result::success);
  ASSERT_NE(stranger, "");
  ::kill(std::stoi(stranger), SIGKILL);
}

TEST_F(Command, StopIsHeardByTheWholeGroup) {
  fifo words(events, folder.path("words"), [&](const std::string&) { recorder.stop(1h); });
  const auto how =
      run(shell("trap 'wait; echo main; exit 7' TERM; "  // before there is anybody who says that all is ready
                "sh -c 'trap \"echo child; exit\" TERM; echo ready > words; while :; do sleep 1000 & wait; done' & wait"));
  EXPECT_EQ(how.exit_code, 7);
  EXPECT_EQ(whole(how), "child\nmain\n");
}

TEST_F(Command, TheStopSignalMayBeAnother) {
  fifo words(events, folder.path("words"), [&](const std::string&) { recorder.stop(1h); });
  command_options options = shell("trap 'exit 5' INT; echo ready > words; while :; do sleep 1000 & wait; done");
  options.stop_signal = SIGINT;
  EXPECT_EQ(run(options).exit_code, 5);
}

TEST_F(Command, WhoIgnoresTheStopSignalIsKilledWithAllItsChildren) {
  fifo words(events, folder.path("words"), [&](const std::string&) { recorder.stop(50ms); });
  const auto how =
      run(shell("trap '' TERM; (sleep 1000 & exec sleep 1000) & echo ready > words; while :; do sleep 1000; done"));
  EXPECT_EQ(how.result, run_result::failed);
  EXPECT_EQ(how.error, "killed by SIGKILL");
  EXPECT_FALSE(how.leftover_killed);
  EXPECT_TRUE(nothing_left());
}

TEST_F(Command, AShorterStopCountsALongerOneDoesNot) {
  fifo words(events, folder.path("words"), [&](const std::string&) {
    recorder.stop(1h);
    recorder.stop(50ms);
    recorder.stop(1h);
  });
  EXPECT_EQ(run(shell("trap '' TERM; echo ready > words; while :; do sleep 1000; done")).signal, SIGKILL);
}

TEST_F(Command, AStoppedProcessHearsTheStopSignal) {
  fifo words(events, folder.path("words"), [&](const std::string&) { recorder.stop(1h); });
  const auto how = run(shell("trap 'exit 9' TERM; (echo ready > words; kill -STOP $$) & wait; wait"));
  EXPECT_EQ(how.exit_code, 9);
}

TEST_F(Command, AStoppedProcessThatIgnoresTheStopSignalIsKilled) {
  fifo words(events, folder.path("words"), [&](const std::string&) { recorder.stop(50ms); });
  const auto how = run(shell("trap '' TERM CONT; echo ready > words; while :; do kill -STOP $$; done"));
  EXPECT_EQ(how.signal, SIGKILL);
}

TEST_F(Command, StopBeforeThereIsAProcessReachesIt) {
  const auto body = make_command(events, shell("sleep 1000"));
  recorder.start(*body);
  recorder.stop(1h);
  events.run();
  EXPECT_EQ(recorder.end.value().signal, SIGTERM);
}

TEST_F(Command, KillBeforeThereIsAProcessLeavesNone) {
  const auto body = make_command(events, shell("trap '' TERM; sleep 1000"));
  recorder.start(*body);
  recorder.stop(0ms);
  events.run();
  EXPECT_NE(recorder.end.value().result, run_result::success);
  EXPECT_TRUE(!recorder.process || nothing_left());
}

// What became another user's may not be signalled by an ordinary one. Here root ends it in the end.
TEST(CommandWithoutPermission, WhatMayNotBeKilledKeepsTheRunGoing) {
  if (::getuid() != 0) GTEST_SKIP() << "makes a program that changes its user: needs root";
  const scratch folder;
  std::filesystem::copy_file("/usr/bin/setpriv", folder.path("other-user"));
  ASSERT_EQ(::chmod(folder.path("other-user").c_str(), 04755), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t alone = ::fork();
  ASSERT_GE(alone, 0);
  if (alone == 0) {
    if (::setresgid(65533, 65533, 65533) != 0 || ::setresuid(65533, 65533, 65533) != 0) ::_exit(1);
    ::close(told[0]);
    real_host host;
    loop events(host);
    attempt_recorder recorder(events);
    recorder.when_unkillable = [&] {
      if (recorder.unkillable.size() == 1 && ::write(told[1], "x", 1) != 1) ::_exit(3);
    };
    command_options options;
    options.argv = {
        "/bin/sh", "-c",
        "mkfifo -m 666 up; ./other-user --reuid=65532 --clear-groups sh -c 'echo $$ > up; exec sleep 1000 >/dev/null 2>&1' & "
        "read -r stranger < up; echo $stranger > stranger"};
    options.workdir = folder.path();
    const auto body = make_command(events, std::move(options));
    const engine::attempt_end how = recorder.run(*body);
    ::_exit(how.result == run_result::success && recorder.unkillable.front() == 1 ? 0 : 2);
  }
  ::close(told[1]);
  char word = 0;
  EXPECT_EQ(::read(told[0], &word, 1), 1) << "it ended beside its child";
  if (const std::string stranger = folder.read("stranger"); !stranger.empty()) ::kill(std::stoi(stranger), SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ::close(told[0]);
}

TEST_F(Command, AFloodOfOutputDoesNotHoldUpTheLoop) {
  std::size_t beats = 0;
  unique_function<void()> beat = [&] {
    if (++beats == 100) return recorder.stop(0ms);
    events.call_later(1ms, [&] { beat(); });
  };
  recorder.when_started = [&] { beat(); };
  const auto how = run(shell("exec cat /dev/zero"));
  EXPECT_TRUE(how.signal);
  EXPECT_GT(how.output_dropped, 1'000'000U);
  EXPECT_EQ(how.output_head.size() + how.output_tail.size(), 256U * 1024U);
}

TEST_F(Command, AForkBombIsKilledToTheLastProcess) {
  fifo words(events, folder.path("words"), [&](const std::string& word) {
    if (word == "40") recorder.stop(0ms);
  });
  // Each process starts another and goes on; the number of generations is bounded only by the kill.
  folder.write_program("bomb", "#!/bin/sh\ntrap '' TERM\necho $1 > words\n./bomb $(($1 + 1)) &\nexec sleep 1000\n");
  const auto how = run(shell("exec ./bomb 1"));
  EXPECT_EQ(how.signal, SIGKILL);
  EXPECT_TRUE(nothing_left());
}

}  // namespace
}  // namespace looptask::jobs
