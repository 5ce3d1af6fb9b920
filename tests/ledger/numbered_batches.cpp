#include "numbered_batches.hpp"

#include <stdexcept>

#include "records.hpp"

namespace looptask::ledger {
namespace {

run_record claimed(std::int64_t i) {
  run_record r = open_run("numbered", i);
  r.attempts = {open_attempt(1, i)};
  return r;
}

run_record ended(std::int64_t i) {
  run_record r = closed_run("numbered", i);
  r.attempts = {closed_attempt(1, i, std::string(static_cast<std::size_t>(i % 997), 'x'))};
  return r;
}

job_record job_after(std::int64_t i) {
  job_record j = some_job("numbered");
  j.watermark = second(i);
  return j;
}

void require(bool holds, const char* what, std::int64_t i) {
  if (!holds) throw std::runtime_error(std::string(what) + ", batch " + std::to_string(i));
}

}  // namespace

batch numbered_batch(std::int64_t i) {
  batch b = of(claimed(i));
  if (i >= 2) b.runs.push_back(ended(i - 2));
  b.jobs.push_back(job_after(i));
  return b;
}

std::int64_t count_numbered_batches(store& ledger) {
  const std::vector<run_record> all = everything(ledger);
  const auto count = static_cast<std::int64_t>(all.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const run_record& found = all[static_cast<std::size_t>(count - 1 - i)];
    require(found.key.nominal == second(i), "a batch is missing", i);
    require(found == (i < count - 2 ? ended(i) : claimed(i)), "a batch is there in part", i);
  }
  const std::vector<job_record> jobs = ledger.load().jobs;
  if (count == 0) {
    require(jobs.empty(), "a job without its run", 0);
  } else {
    require(jobs == std::vector{job_after(count - 1)}, "the job record is not that of the last run", count - 1);
  }
  return count;
}

}  // namespace looptask::ledger
