// kill -9 while batches are written: what was acknowledged is there, every batch is there as a whole or not at all, and none
// is there without those before it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "ledger/sqlite_store.hpp"
#include "numbered_batches.hpp"
#include "source_tree.hpp"
#include "temporary_directory.hpp"
#include "test_loop.hpp"
#include "unprivileged.hpp"

namespace looptask::ledger {
namespace {

// The program of writer_program/, its acknowledgements readable line by line.
class writer_process {
 public:
  writer_process(const std::string& directory, std::int64_t first) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    const std::string program = tests::binary_dir() + "/tests/ledger/ledger_writer";
    const std::string number = std::to_string(first);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execl(program.c_str(), program.c_str(), directory.c_str(), number.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
  }
  ~writer_process() {
    kill_now();
    if (output_ != nullptr) fclose(output_);
  }
  writer_process(const writer_process&) = delete;
  writer_process& operator=(const writer_process&) = delete;

  // The next acknowledged number, or nullopt when the process is gone and all it said was read.
  std::optional<std::int64_t> next() {
    char line[32];
    if (fgets(line, sizeof line, output_) == nullptr) return std::nullopt;
    return std::atoll(line);
  }

  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  FILE* output_ = nullptr;
};

TEST(HistoryAfterKill, WhatWasAcknowledgedIsThereAndNoBatchInPart) {
  const temporary_directory directory;
  chmod(directory.path().c_str(), 0755);
  std::ofstream{directory.file("history.db")};
  chmod(directory.file("history.db").c_str(), 0644);  // and so the files beside it: anybody may read
  std::int64_t held = 0;
  for (int life = 0; life < 20; ++life) {
    writer_process writer(directory.path(), held);
    std::int64_t acknowledged = held;
    // A different number of acknowledgements each time, across checkpoints of the log as well.
    const std::int64_t enough = held + 1 + (life * 37) % 101;
    while (acknowledged < enough) {
      const std::optional<std::int64_t> number = writer.next();
      ASSERT_TRUE(number) << "the writer ended by itself";
      ASSERT_EQ(*number, acknowledged);
      ++acknowledged;
    }
    writer.kill_now();
    while (const std::optional<std::int64_t> number = writer.next()) acknowledged = *number + 1;

    // First somebody who may only read, then a reader like us, then the next life.
    const auto read = [&] { return std::to_string(count_numbered_batches(*open_sqlite_reader(directory.path()))); };
    const std::string read_by_nobody = as_nobody(read);
    const std::string read_beside = read();
    test_loop home;
    const auto ledger = open_sqlite_store(directory.path(), durability::full, home);
    held = count_numbered_batches(*ledger);
    EXPECT_GE(held, acknowledged) << "life " << life;
    EXPECT_EQ(read_by_nobody, std::to_string(held));
    EXPECT_EQ(read_beside, std::to_string(held));
  }
}

}  // namespace
}  // namespace looptask::ledger
