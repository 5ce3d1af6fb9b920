// What the embedded history does when the file or the disk is not as it should be, and that it heals.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "conformance.hpp"
#include "ledger/sqlite_connection.hpp"
#include "ledger/sqlite_store.hpp"
#include "temporary_directory.hpp"
#include "unprivileged.hpp"

namespace looptask::ledger {
namespace {

std::string reason_of(unique_function<void()> what) {
  try {
    what();
  } catch (const std::runtime_error& why) {
    return why.what();
  }
  return "nothing was thrown";
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

class HistoryFaults : public testing::Test {
 protected:
  temporary_directory directory;
  std::string file = directory.file("history.db");
  test_loop home;

  std::unique_ptr<store> open() { return open_sqlite_store(directory.path(), durability::full, home); }
  void write_one() { commit_well(*open(), home, of(closed_run("a", 1))); }
  std::string opening_fails() {
    return reason_of([this] { open(); });
  }
  std::string reading_fails() {
    return reason_of([this] { open_sqlite_reader(directory.path()); });
  }
};

TEST_F(HistoryFaults, WithoutAHistoryAReaderSaysSoAndMakesNone) {
  EXPECT_THROW(open_sqlite_reader(directory.path()), no_history);
  EXPECT_SAYS(reading_fails(), file);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(HistoryFaults, AnEmptyFileIsNoHistoryYet) {
  std::ofstream{file};
  EXPECT_THROW(open_sqlite_reader(directory.path()), no_history);
  write_one();
  EXPECT_EQ(open_sqlite_reader(directory.path())->runs({}).size(), 1U);
}

TEST_F(HistoryFaults, AFileThatIsNoDatabaseIsLeftAloneAndNamed) {
  const std::string content(10'000, 'x');
  std::ofstream(file) << content;
  for (const std::string& said : {opening_fails(), reading_fails()}) {
    EXPECT_SAYS(said, file);
    EXPECT_SAYS(said, "move the file away");
  }
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), content);
}

TEST_F(HistoryFaults, DamageInTheMiddleIsNamedWhenItIsMet) {
  write_one();
  std::fstream damage(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file));
  damage.seekp(4096);
  for (std::streamoff i = 4096; i < size; ++i) damage.put('\x5a');
  damage.close();
  EXPECT_SAYS(reason_of([this] { open()->load(); }), "the history is damaged");
}

TEST_F(HistoryFaults, ANewerSchemaIsRefused) {
  write_one();
  connection(file, access::read_write).execute("pragma user_version = 99");
  for (const std::string& said : {opening_fails(), reading_fails()}) {
    EXPECT_SAYS(said, file);
    EXPECT_SAYS(said, "newer LoopTask (schema 99");
  }
}

TEST_F(HistoryFaults, AnotherProgramsDatabaseIsRefusedAndNotTouched) {
  connection(file, access::read_write).execute("create table theirs (x)");
  for (const std::string& said : {opening_fails(), reading_fails()}) EXPECT_SAYS(said, "a database of another program");
  connection db(file, access::read_write);
  EXPECT_EQ(db.word("pragma journal_mode"), "delete");
  EXPECT_EQ(db.number("select count(*) from sqlite_schema"), 1);
}

TEST_F(HistoryFaults, AMissingDirectoryIsNamed) {
  EXPECT_SAYS(reason_of([this] { open_sqlite_store(directory.file("none"), durability::full, home); }),
              directory.file("none/history.db") + ": cannot be created");
}

TEST_F(HistoryFaults, ADirectoryThatMayNotBeWrittenIsNamed) {
  chmod(directory.path().c_str(), 0755);
  const std::string said = as_nobody([this] { return opening_fails(); });
  EXPECT_SAYS(said, file);
  if (geteuid() == 0) {
    EXPECT_SAYS(said, "may not write to it");
  }
}

TEST_F(HistoryFaults, AFileThatMayNotBeWrittenIsNamed) {
  write_one();
  chmod(directory.path().c_str(), 0755);
  if (geteuid() != 0) chmod(file.c_str(), 0444);
  const std::string said = as_nobody([this] { return opening_fails(); });
  EXPECT_SAYS(said, file);
  EXPECT_SAYS(said, "may not write");
}

TEST_F(HistoryFaults, ANewHistoryIsReadableForItsOwnerAlone) {
  chmod(directory.path().c_str(), 0755);
  const auto running = open();
  commit_well(*running, home, of(closed_run("a", 1)));
  using std::filesystem::perms;
  for (const char* const end : {"", "-wal", "-shm"}) {
    EXPECT_EQ(std::filesystem::status(file + end).permissions(), perms::owner_read | perms::owner_write) << end;
  }
}

TEST_F(HistoryFaults, WhoWasGrantedReadingCanReadTheHistory) {
  chmod(directory.path().c_str(), 0755);
  write_one();
  for (const char* const end : {"", "-wal", "-shm"}) chmod((file + end).c_str(), 0644);
  EXPECT_EQ(as_nobody([this] { return std::to_string(open_sqlite_reader(directory.path())->runs({}).size()); }), "1");
}

// The files beside it get its mode as well.
TEST_F(HistoryFaults, WhoMayOnlyReadTheDirectoryCanReadTheHistory) {
  chmod(directory.path().c_str(), 0755);
  std::ofstream{file};
  chmod(file.c_str(), 0644);
  const auto read = [this] { return std::to_string(open_sqlite_reader(directory.path())->runs({}).size()); };
  {
    const auto running = open();
    commit_well(*running, home, of(closed_run("a", 1)));
    EXPECT_EQ(as_nobody(read), "1") << "beside a running service";
    commit_well(*running, home, of(closed_run("a", 2)));
    EXPECT_EQ(as_nobody(read), "2") << "beside a running service";
  }
  EXPECT_EQ(as_nobody(read), "2") << "after a clean end";
}

TEST_F(HistoryFaults, AReaderLeavesTheLogToTheWriter) {
  const auto running = open();
  commit_well(*running, home, of(closed_run("a", 1)));
  const auto log_size = std::filesystem::file_size(file + "-wal");
  const auto database_time = std::filesystem::last_write_time(file);
  EXPECT_EQ(open_sqlite_reader(directory.path())->runs({}).size(), 1U);
  EXPECT_EQ(std::filesystem::file_size(file + "-wal"), log_size);
  EXPECT_EQ(std::filesystem::last_write_time(file), database_time);
}

// Files of this process may not grow beyond the limit while it lives: what the system says is "File too large".
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~file_size_limit() { setrlimit(RLIMIT_FSIZE, &before_); }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  rlimit before_{};
};

run_record big_run(std::int64_t nominal) {
  run_record r = closed_run("big", nominal);
  r.attempts[0].output_head = std::string(200'000, 'x');
  return r;
}

// Submits runs 1, 2, 3 while the cause lasts, then again in order after `heal`: all are there once, in order.
void expect_failure_and_healing(store& ledger, test_loop& home, const std::string& reason, unique_function<void()> heal) {
  std::vector<commit_error> errors;
  for (int i = 1; i <= 3; ++i) {
    ledger.submit(of(big_run(i)), [&](commit_error error) { errors.push_back(std::move(error)); });
  }
  home.run_until([&] { return errors.size() == 3; });
  for (const commit_error& error : errors) {
    EXPECT_TRUE(error.failed);
    EXPECT_FALSE(error.refused);
    EXPECT_SAYS(error.message, "history.db");
    EXPECT_SAYS(error.message, reason);
  }
  EXPECT_TRUE(ledger.runs({.job = "big"}).empty());
  heal();
  for (int i = 1; i <= 3; ++i) commit_well(ledger, home, of(big_run(i)));
  EXPECT_EQ(ledger.runs({.job = "big"}).size(), 3U);
  EXPECT_EQ(ledger.statistics().errors, 3U);
}

TEST_F(HistoryFaults, AWriteThatFailsIsReportedAndHeals) {
  const auto ledger = open();
  std::optional<file_size_limit> limit(std::in_place, 120'000);
  expect_failure_and_healing(*ledger, home, "File too large", [&] { limit.reset(); });
}

TEST_F(HistoryFaults, AFullDiskIsReportedAndHeals) {
  if (mount("none", directory.path().c_str(), "tmpfs", 0, "size=400k") != 0) {
    GTEST_SKIP() << "may not mount a small file system; AWriteThatFailsIsReportedAndHeals stands for it";
  }
  {
    const auto ledger = open();
    expect_failure_and_healing(*ledger, home, "full",
                               [&] { mount("none", directory.path().c_str(), "tmpfs", MS_REMOUNT, "size=20m"); });
  }
  umount(directory.path().c_str());
}

TEST_F(HistoryFaults, ALockedHistoryIsReportedAndHeals) {
  const auto ledger = open();
  connection other(file, access::read_write);
  other.execute("begin immediate");
  expect_failure_and_healing(*ledger, home, "locked", [&] { other.execute("rollback"); });
}

TEST_F(HistoryFaults, AFileThatWasMovedAwayIsReportedAndHealsWhenItIsBack) {
  const auto ledger = open();
  const std::string away = directory.file("away.db");
  std::filesystem::rename(file, away);
  expect_failure_and_healing(*ledger, home, "moved away", [&] { std::filesystem::rename(away, file); });
}

TEST_F(HistoryFaults, AFileThatWasReplacedIsReportedAndHealsWhenItIsBack) {
  const auto ledger = open();
  const std::string away = directory.file("away.db");
  std::filesystem::rename(file, away);
  std::filesystem::copy_file(away, file);
  expect_failure_and_healing(*ledger, home, "replaced", [&] { std::filesystem::rename(away, file); });
}

TEST_F(HistoryFaults, AFailedBatchTakesThoseBehindItAlong) {
  const auto ledger = open();
  std::optional<file_size_limit> limit(std::in_place, 120'000);
  std::vector<bool> failed;
  ledger->submit(of(big_run(1)), [&](commit_error error) {
    failed.push_back(error.failed);
    limit.reset();  // from here on writing would succeed, but nothing may overtake
  });
  home->run_once();  // the first is being written, the second will wait
  ledger->submit(of(open_run("small", 2)), [&](commit_error error) { failed.push_back(error.failed); });
  home.run_until([&] { return failed.size() == 2; });
  EXPECT_EQ(failed, (std::vector<bool>{true, true}));
  EXPECT_TRUE(ledger->runs({}).empty());
}

TEST_F(HistoryFaults, NothingOvertakesAtTheEndOfTheStoreEither) {
  {
    const file_size_limit limit(120'000);  // too little for the first, enough for the second
    const auto ledger = open();
    ledger->submit(of(big_run(1)), [](const commit_error&) {});
    home->run_once();  // the first is being written; nobody will hear how that ends
    ledger->submit(of(open_run("small", 2)), [](const commit_error&) {});
  }
  EXPECT_TRUE(open_sqlite_reader(directory.path())->runs({}).empty());
}

TEST_F(HistoryFaults, ASignOfLifeThatFailsIsCounted) {
  const auto ledger = open();
  connection other(file, access::read_write);
  other.execute("begin immediate");
  ledger->alive(second(5));
  home.run_until([&] { return ledger->statistics().errors == 1; });
  other.execute("rollback");
  commit_well(*ledger, home, of(open_run("a", 1)));
}

}  // namespace
}  // namespace looptask::ledger
