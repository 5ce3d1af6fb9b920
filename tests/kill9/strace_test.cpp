// What strace sees of a real history: a start is durable before its process exists, and starts share syncs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <looptask/real_host.hpp>

#include "../bench/noop_jobs.hpp"
#include "kill9/service_process.hpp"
#include "kill9/strace_log.hpp"
#include "ledger/sqlite_store.hpp"
#include "source_tree.hpp"

namespace looptask::tests {
namespace {

using namespace std::chrono_literals;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct strace : testing::Test {
  std::string home;

  void SetUp() override {
    home = (std::filesystem::temp_directory_path() / "looptask-strace-XXXXXX").string();
    ASSERT_NE(::mkdtemp(home.data()), nullptr);
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // the search for leaks is a tracer itself, and a process has only one
  }
  void TearDown() override { std::filesystem::remove_all(home); }
  // Runs a command under strace to its end.
  traced_service trace(const std::string& calls, const std::vector<std::string>& command) {
    std::vector<std::string> argv{"/usr/bin/strace", "-f", "-y",           "-v", "-s", "8192", "--seccomp-bpf", "-e",
                                  "trace=" + calls,  "-o", home + "/trace"};
    argv.insert(argv.end(), command.begin(), command.end());
    service_process service(argv, home + "/stdout", home + "/stderr");
    EXPECT_EQ(service.wait(120s), 0) << contents(home + "/stderr");
    return read_strace(contents(home + "/trace"), "history.db-wal");
  }
};

TEST_F(strace, a_start_is_durable_before_its_process_exists) {
  std::ofstream file(home + "/looptask.toml");
  file << "config_version = 1\n[service]\ntimezone = \"UTC\"\n[defaults]\ntimeout = \"1m\"\n";
  for (int i = 0; i < 8; ++i) {
    file << "[job.j" << i << "]\nevery = \"" << 90 + 10 * i << "ms\"\nfrom = \"grid\"\nrun = [\"/bin/true\"]\n";
  }
  // Ends the service when it has run often enough itself.
  file << "[job.last]\nevery = \"50ms\"\nfrom = \"grid\"\nworkdir = \"" << home << "\"\n"
       << "shell = 'echo x >> count; test $(wc -l < count) -ne 20 || kill -TERM $PPID'\n";
  file.close();
  const traced_service seen = trace("pwrite64,fdatasync,fsync,fork,vfork,clone,clone3,execve",
                                    {binary_dir() + "/looptask", "run", home + "/looptask.toml", "--data-dir", home + "/data"});
  std::set<std::string> runs;
  for (const traced_spawn& spawn : seen.spawns) {
    runs.insert(spawn.run_id);
    EXPECT_TRUE(spawn.claimed) << spawn.run_id << ": no claim was written before its process was spawned";
    EXPECT_TRUE(spawn.synced) << spawn.run_id << ": its claim was not synced before its process was spawned";
  }
  EXPECT_GE(runs.size(), 20U);
}

// Run by the next test in a process of its own, under strace: a thousand starts a second, evenly spread, for three seconds.
TEST(traced, DISABLED_thousand_starts_a_second) {
  const std::string folder = std::getenv("LOOPTASK_TRACED_FOLDER");
  real_host host;
  loop l(host);
  const auto history = ledger::open_sqlite_store(folder, ledger::durability::full, l);
  const bench::noop_outcome seen = bench::noop_jobs(l, *history, 1000).run(2);
  std::ofstream(folder + "/starts") << seen.engine.total.attempts;
}

TEST_F(strace, a_thousand_starts_a_second_take_at_most_one_sync_for_five) {
  std::filesystem::create_directory(home + "/data");
  ::setenv("LOOPTASK_TRACED_FOLDER", (home + "/data").c_str(), 1);
  const traced_service seen =
      trace("fdatasync,fsync", {std::filesystem::read_symlink("/proc/self/exe").string(), "--gtest_also_run_disabled_tests",
                                "--gtest_filter=traced.DISABLED_thousand_starts_a_second"});
  const std::size_t starts = std::stoul(contents(home + "/data/starts"));
  EXPECT_GE(starts, 1000U);
  EXPECT_GE(seen.syncs, 1U);
  EXPECT_LE(seen.syncs * 5, starts) << "syncs: " << seen.syncs;
}

}  // namespace
}  // namespace looptask::tests
