// The embedded history with many batches, many records and readers beside it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "conformance.hpp"
#include "ledger/history_reader.hpp"
#include "ledger/sqlite_connection.hpp"
#include "ledger/sqlite_store.hpp"
#include "ledger/sync_pace.hpp"
#include "numbered_batches.hpp"
#include "temporary_directory.hpp"

namespace looptask::ledger {
namespace {

TEST(SqliteStoreUnderLoad, BatchesThatWaitShareASync) {
  const temporary_directory directory;
  test_loop home;
  const auto ledger = open_sqlite_store(directory.path(), durability::full, home);
  int done = 0;
  int submitted = 0;
  // 1,000 batches, fifty under way at any time.
  while (done < 1000) {
    for (; submitted < 1000 && submitted < done + 50; ++submitted) {
      ledger->submit(of(closed_run("a", submitted)), [&](commit_error error) {
        EXPECT_FALSE(error.failed) << error.message;
        ++done;
      });
    }
    const int before = done;
    home.run_until([&] { return done != before; });
  }
  EXPECT_EQ(ledger->statistics().batches, 1000U);
  EXPECT_LE(ledger->statistics().commits, 100U);
  EXPECT_EQ(ledger->runs({}).size(), 1000U);
}

TEST(SqliteStoreUnderLoad, SyncsKeepThePace) {
  const temporary_directory directory;
  test_loop home;
  const auto ledger = open_sqlite_store(directory.path(), durability::full, home);
  // Each batch is submitted when the one before is durable: nothing shares a sync by itself.
  const monotonic_time begin = home->now();
  for (std::int64_t i = 0; i < 100; ++i) commit_well(*ledger, home, of(open_run("a", i)));
  const duration took = home->now() - begin;
  EXPECT_LE(ledger->statistics().commits, static_cast<std::uint64_t>(sync_pace::burst + took / sync_pace::lasting_gap));
}

TEST(SqliteStoreUnderLoad, TheLoopGoesOnWhileSomethingIsBeingWritten) {
  const temporary_directory directory;
  test_loop home;
  const auto ledger = open_sqlite_store(directory.path(), durability::full, home);
  bool done = false;
  ledger->submit(of(open_run("a", 1)), [&](commit_error) { done = true; });
  home->run();
  EXPECT_TRUE(done);
}

TEST(SqliteStoreUnderLoad, AReaderAlwaysSeesWholeBatches) {
  const temporary_directory directory;
  test_loop home;
  const auto ledger = open_sqlite_store(directory.path(), durability::full, home);
  commit_well(*ledger, home, numbered_batch(0));
  std::atomic<bool> stop = false;
  std::atomic<int> readings = 0;
  std::thread beside([&] {
    const auto reader = open_sqlite_reader(directory.path());
    std::int64_t last = 0;
    while (!stop) {
      const std::vector<run_record> seen = everything(*reader);
      const auto count = static_cast<std::int64_t>(seen.size());
      EXPECT_GE(count, last);
      last = count;
      for (const run_record& record : seen) {
        const bool one_of_last_two = record.key.nominal >= second(count - 2);
        EXPECT_EQ(record.phase == record_phase::open, one_of_last_two);
      }
      ++readings;
    }
  });
  for (std::int64_t i = 1; i < 300 || readings < 3; ++i) commit_well(*ledger, home, numbered_batch(i));
  stop = true;
  beside.join();
}

TEST(SqliteStoreUnderLoad, TheLogDoesNotGrowWithTheHistory) {
  const temporary_directory directory;
  test_loop home;
  const auto ledger = open_sqlite_store(directory.path(), durability::process, home);
  for (std::int64_t i = 0; i < 200; ++i) {
    run_record r = closed_run("a", i);
    r.attempts[0].output_head = std::string(100'000, 'x');
    commit_well(*ledger, home, of(r));
  }
  EXPECT_GT(std::filesystem::file_size(directory.file("history.db")), 10'000'000U);
  EXPECT_LT(std::filesystem::file_size(directory.file("history.db-wal")), 10'000'000U);
}

struct plan_case {
  const char* name;
  const char* index;
  run_query query;
};
void PrintTo(const plan_case& what, std::ostream* out) { *out << what.index; }

class QueryPlan : public testing::TestWithParam<plan_case> {};

// 1,000,000 records stay usable only if no query looks at all of them for the first page.
TEST_P(QueryPlan, SearchesAnIndexAndSortsOnlyEqualNominals) {
  const temporary_directory directory;
  test_loop home;
  { open_sqlite_store(directory.path(), durability::process, home); }
  connection db(directory.file("history.db"), access::read_only);
  statement query(db, ("explain query plan " + runs_query_text(GetParam().query)).c_str());
  statement::cursor rows(query);
  std::string plan;
  while (rows.next()) plan += std::string(query.bytes(3)) + "\n";
  EXPECT_NE(plan.find(std::string("SEARCH runs USING INDEX ") + GetParam().index), std::string::npos) << plan;
  EXPECT_EQ(plan.find("SCAN"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("TEMP B-TREE FOR ORDER BY"), std::string::npos) << plan;
}

INSTANTIATE_TEST_SUITE_P(
    All, QueryPlan,
    testing::Values(plan_case{"newest_runs", "runs_by_nominal", {.limit = 20}},
                    plan_case{"newest_slots", "runs_by_nominal", {.ran_only = false}},
                    plan_case{"newest_runs_of_a_job", "runs_ran_of_job", {.job = "a", .limit = 20}},
                    plan_case{"slots_of_a_job_since", "runs_key", {.job = "a", .since = instant{}, .ran_only = false}}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace looptask::ledger
