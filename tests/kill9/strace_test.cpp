// What strace sees of a service on its real history: a start is durable before its process exists, and starts share syncs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "kill9/service_process.hpp"
#include "kill9/strace_log.hpp"
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
  file.close();
  const traced_service seen =
      trace("pwrite64,fdatasync,fsync,fork,vfork,clone,clone3,execve",
            {binary_dir() + "/looptask", "run", home + "/looptask.toml", "--data-dir", home + "/data", "--for", "2s"});
  std::set<std::string> runs;
  for (const traced_spawn& spawn : seen.spawns) {
    runs.insert(spawn.run_id);
    EXPECT_TRUE(spawn.claimed) << spawn.run_id << ": no claim was written before its process was spawned";
    EXPECT_TRUE(spawn.synced) << spawn.run_id << ": its claim was not synced before its process was spawned";
  }
  EXPECT_GE(runs.size(), 20U);
}

}  // namespace
}  // namespace looptask::tests
