#pragma once
// Records for tests, in few words. Instants are written as seconds.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"
#include "test_loop.hpp"

namespace looptask::ledger {

inline instant second(std::int64_t n) { return instant(std::chrono::seconds(n)); }

run_record waiting_run(const std::string& job, std::int64_t nominal);
run_record open_run(const std::string& job, std::int64_t nominal);  // claimed, its first attempt not yet started
run_record closed_run(const std::string& job, std::int64_t nominal, run_result result = run_result::success);
run_record skipped_slot(const std::string& job, std::int64_t nominal, cause why = cause::overlap);
attempt_record open_attempt(std::uint32_t n, std::int64_t started);
attempt_record closed_attempt(std::uint32_t n, std::int64_t started, const std::string& output);
job_record some_job(const std::string& name);

batch of(run_record record);
batch of(std::vector<run_record> records);

// Submits and waits for `done`.
commit_error commit(store& to, test_loop& home, batch what);
void commit_well(store& to, test_loop& home, batch what);

std::vector<run_record> everything(store& from);  // all records with output, newest first

void PrintTo(const run_record& record, std::ostream* out);
void PrintTo(const job_record& record, std::ostream* out);

}  // namespace looptask::ledger
