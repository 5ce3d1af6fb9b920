#include "host/process_table.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "host/quiet_thread.hpp"

namespace looptask {
namespace {

const std::string numbers = " 1 4711 4242 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";

TEST(ProcessTable, ReadsSessionStateAndStartTime) {
  const auto entry = parse_stat("77 (sh) S" + numbers);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->pid, 77);
  EXPECT_EQ(entry->state, 'S');
  EXPECT_EQ(entry->group, 4711);
  EXPECT_EQ(entry->session, 4242);
  EXPECT_EQ(entry->start_time, 987654U);
  EXPECT_TRUE(entry->executed);
}

TEST(ProcessTable, KnowsAProcessThatIsStillWhatItsParentForked) {
  const pid_t forked = ::fork();
  ASSERT_GE(forked, 0);
  if (forked == 0) ::_exit(0);
  const auto entry = read_process(forked);  // the parent's to reap: it is there until then
  ::waitpid(forked, nullptr, 0);
  ASSERT_TRUE(entry);
  EXPECT_FALSE(entry->executed);
  EXPECT_TRUE(read_process(::getpid())->executed);
}

TEST(ProcessTable, ANameMayHoldWhatSeparatesTheFields) {
  for (const std::string name : {") R 1 2 3 4 (", "a b", "", "a\nb) ", "((("}) {
    const auto entry = parse_stat("77 (" + name + ") Z" + numbers);
    ASSERT_TRUE(entry) << name;
    EXPECT_EQ(entry->state, 'Z') << name;
    EXPECT_EQ(entry->session, 4242) << name;
  }
}

TEST(ProcessTable, TextThatIsCutOffIsNoEntry) {
  const std::string whole = "77 (sh) S 1 4711 4242 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 9";
  ASSERT_TRUE(parse_stat(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(parse_stat(whole.substr(0, size))) << size;
}

TEST(ProcessTable, TellsNoEnvironmentFromNoneYet) {
  const auto without = [](const std::string& flags, const std::string& end_of_code, const std::string& environment) {
    const auto entry = parse_stat("77 (sh) R 1 77 77 34816 -1 " + flags + " 1 2 3 4 5 6 7 8 20 0 1 0 9 1 2 3 4 " + end_of_code +
                                  " 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 " + environment + " 0\n");
    return entry && entry->without_environment;
  };
  EXPECT_FALSE(without("4194304", "9400", "140720 140800"));
  EXPECT_TRUE(without("4194304", "9400", "140720 140720"));
  EXPECT_FALSE(without("4194304", "0", "0 0")) << "between two programs";
  EXPECT_FALSE(without("4194304", "0", "140720 140720")) << "it is being laid out";
  EXPECT_TRUE(without("4194308", "0", "0 0")) << "it ends";
  EXPECT_TRUE(without("2097152", "0", "0 0")) << "the kernel's own";
}

// A program that has been replaced by the next, over and over, was started with its environment all the same.
TEST(ProcessTable, ReadsTheEnvironmentOfWhatKeepsBecomingAnotherProgram) {
  const pid_t busy = ::fork();
  ASSERT_GE(busy, 0);
  if (busy == 0) {
    ::execle("/bin/sh", "sh", "-c", "exec sh -c \"$0\" \"$0\"", "exec sh -c \"$0\" \"$0\"", nullptr,
             std::vector<const char*>{"MARK=01EXEC", "PATH=/usr/bin:/bin", nullptr}.data());
    ::_exit(127);
  }
  while (!holds_variable(read_environment(busy).value_or(""), "MARK=01EXEC")) {
  }
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto environment = read_environment(busy);
    if (environment ? !holds_variable(*environment, "MARK=01EXEC") : errno != EAGAIN) ++wrong;
  }
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(ProcessTable, ListsThisProcess) {
  const auto all = list_processes();
  ASSERT_TRUE(all);
  const auto me = std::find_if(all->begin(), all->end(), [](const process_entry& one) { return one.pid == ::getpid(); });
  ASSERT_NE(me, all->end());
  EXPECT_EQ(me->session, ::getsid(0));
  EXPECT_EQ(me->start_time, read_process(::getpid())->start_time);
}

// Without descriptors nothing can be read, which is another thing than that nothing is there.
TEST(ProcessTable, TellsWhatCannotBeReadFromWhatIsGone) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  std::vector<int> errors;
  quiet_thread([&] {  // the limit is for these calls alone: a sanitizer needs descriptors of its own to look at a thread
    ::setrlimit(RLIMIT_NOFILE, &none);
    errors.push_back(list_processes() ? 0 : errno);
    errors.push_back(read_process(::getpid()) ? 0 : errno);
    errors.push_back(read_environment(::getpid()) ? 0 : errno);
    ::setrlimit(RLIMIT_NOFILE, &before);
  })
      .join();
  EXPECT_EQ(errors, (std::vector{EMFILE, EMFILE, EMFILE}));
  EXPECT_FALSE(says_gone(EMFILE));
  constexpr std::int32_t nobody = 0x7ffffff0;
  EXPECT_FALSE(read_process(nobody));
  EXPECT_TRUE(says_gone(errno));
  EXPECT_FALSE(read_environment(nobody));
  EXPECT_TRUE(says_gone(errno));
}

TEST(ProcessTable, FindsAVariableOnlyAsAWhole) {
  using namespace std::string_literals;
  const std::string environment = "A=1\0RUN=ab\0XRUN=abc\0LAST=z\0"s;
  EXPECT_TRUE(holds_variable(environment, "A=1"));
  EXPECT_TRUE(holds_variable(environment, "RUN=ab"));
  EXPECT_TRUE(holds_variable(environment, "LAST=z"));
  EXPECT_FALSE(holds_variable(environment, "RUN=a"));
  EXPECT_FALSE(holds_variable(environment, "RUN=abc"));
  EXPECT_FALSE(holds_variable(environment, "UN=ab"));
  EXPECT_FALSE(holds_variable("", "A=1"));
}

}  // namespace
}  // namespace looptask
