// The program's own descriptors: what happens when they end or are full.
#include <gtest/gtest.h>

#include <cstdlib>
#include <source_tree.hpp>

namespace looptask::cli {
namespace {

// The exit code of a line of bash in which $LT is the program.
int shell(const std::string& line) {
  const std::string command = "LT=" + tests::binary_dir() + "/looptask bash -c '" + line + "'";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(console, a_reader_that_went_away_is_no_error) { EXPECT_EQ(shell("$LT --help | true; exit ${PIPESTATUS[0]}"), 0); }

TEST(console, a_full_disk_is_125_and_said) {
  EXPECT_EQ(shell("$LT version > /dev/full 2> /dev/null"), 125);
  EXPECT_EQ(shell("test \"$($LT version 2>&1 > /dev/full)\" = \"looptask: cannot write to stdout: No space left on device\""),
            0);
}

TEST(console, a_closed_stdout_is_said_too) { EXPECT_EQ(shell("$LT version >&- 2> /dev/null"), 125); }

TEST(console, a_full_stderr_changes_nothing) { EXPECT_EQ(shell("$LT nonsense 2> /dev/full"), 2); }

}  // namespace
}  // namespace looptask::cli
