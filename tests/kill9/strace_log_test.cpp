#include "kill9/strace_log.hpp"

#include <gtest/gtest.h>

namespace looptask::tests {
namespace {

const std::string write = "11 pwrite64(7</d/history.db-wal>, \"\\0\\1 R1 \\2\", 4096, 32) = 4096\n";
const std::string sync = "11 fdatasync(7</d/history.db-wal>) = 0\n";
const std::string sync_begins = "11 fdatasync(7</d/history.db-wal> <unfinished ...>\n";
const std::string sync_ends = "11 <... fdatasync resumed>)          = 0\n";
const std::string spawn_begins = "12 vfork( <unfinished ...>\n";
const std::string exec = "20 execve(\"/bin/true\", [\"true\"], [\"A=b\", \"LOOPTASK_RUN_ID=R1\"] <unfinished ...>\n";
const std::string spawn_ends = "12 <... vfork resumed>)               = 20\n20 <... execve resumed>)             = 0\n";

traced_spawn only(const std::string& text) {
  const auto all = read_strace(text, "-wal").spawns;
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? traced_spawn{} : all[0];
}

TEST(strace_log, finds_a_claim_that_was_synced_before_the_spawn) {
  const auto spawn = only(write + sync + spawn_begins + exec + spawn_ends);
  EXPECT_EQ(spawn.run_id, "R1");
  EXPECT_TRUE(spawn.claimed);
  EXPECT_TRUE(spawn.synced);
  EXPECT_TRUE(only(write + sync_begins + "13 futex(1) = 0\n" + sync_ends + spawn_begins + exec + spawn_ends).synced);
}

TEST(strace_log, finds_what_came_too_late) {
  EXPECT_FALSE(only(sync + spawn_begins + exec + spawn_ends).claimed);
  EXPECT_FALSE(only(spawn_begins + write + sync + exec + spawn_ends).claimed);
  EXPECT_TRUE(only(write + spawn_begins + sync + exec + spawn_ends).claimed);
  EXPECT_FALSE(only(write + spawn_begins + sync + exec + spawn_ends).synced);
  EXPECT_FALSE(only(write + sync_begins + spawn_begins + sync_ends + exec + spawn_ends).synced);
  EXPECT_FALSE(only(sync + write + spawn_begins + exec + spawn_ends).synced);
  EXPECT_FALSE(only(sync_begins + write + sync_ends + spawn_begins + exec + spawn_ends).synced);
}

TEST(strace_log, counts_the_syncs_of_the_log_alone) {
  EXPECT_EQ(read_strace(sync + sync_begins + sync_ends + "11 fdatasync(8</d/history.db>) = 0\n", "-wal").syncs, 2U);
}

}  // namespace
}  // namespace looptask::tests
