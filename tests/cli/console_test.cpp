// The program's own descriptors: what happens when they end or are full.
#include <gtest/gtest.h>

#include <cstdlib>
#include <source_tree.hpp>
#include <string>

#include "process/scratch.hpp"

namespace looptask::cli {
namespace {

// The exit code of a line of bash in which $LT is the program.
int shell(const std::string& line) {
  ::setenv("LT", (tests::binary_dir() + "/looptask").c_str(), 1);
  ::setenv("LINE", line.c_str(), 1);
  const int status = std::system("exec bash -c \"$LINE\"");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The reader has gone before the program begins: the shell waits for it in between.
TEST(console, a_reader_that_went_away_is_no_error) {
  EXPECT_EQ(shell("exec 3> >(exec true); wait $!; trap '' PIPE; { echo x >&3; } 2> /dev/null && exit 99; "
                  "trap - PIPE; \"$LT\" --help >&3"),
            0);
}

TEST(console, a_full_disk_is_125_and_said) {
  EXPECT_EQ(shell("\"$LT\" version > /dev/full 2> /dev/null"), 125);
  EXPECT_EQ(
      shell("test \"$(\"$LT\" version 2>&1 > /dev/full)\" = \"looptask: cannot write to stdout: No space left on device\""), 0);
}

TEST(console, a_closed_stdout_is_said_too) { EXPECT_EQ(shell("\"$LT\" version >&- 2> /dev/null"), 125); }

TEST(console, a_closed_stdin_cannot_be_read) { EXPECT_EQ(shell("\"$LT\" next --batch <&- 2> /dev/null"), 125); }

TEST(console, a_full_stderr_changes_nothing) { EXPECT_EQ(shell("\"$LT\" nonsense 2> /dev/full"), 2); }

TEST(console, closed_descriptors_are_not_given_to_the_files_of_the_service) {
  const scratch folder;
  folder.write("jobs.toml", "[job.a]\nevery = \"1h\"\nrun = [\"true\"]\n");
  ::setenv("FOLDER", folder.path().c_str(), 1);
  EXPECT_EQ(shell("cd \"$FOLDER\" && \"$LT\" run jobs.toml --once --data-dir data <&- >&- 2>&-"), 125);
  EXPECT_EQ(folder.read("data/lock"), "");
  EXPECT_EQ(shell("cd \"$FOLDER\" && \"$LT\" runs --data-dir data > /dev/null"), 0);
}

}  // namespace
}  // namespace looptask::cli
