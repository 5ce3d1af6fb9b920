#include "records.hpp"

#include "ledger/record_rules.hpp"

namespace looptask::ledger {

run_record waiting_run(const std::string& job, std::int64_t nominal) {
  run_record r;
  r.key = {.job = job, .nominal = second(nominal)};
  r.phase = record_phase::waiting;
  r.due = second(nominal);
  r.decided = second(nominal);
  r.nominal_last = second(nominal);
  return r;
}

run_record open_run(const std::string& job, std::int64_t nominal) {
  run_record r = waiting_run(job, nominal);
  r.run_id = job + "-" + std::to_string(nominal);
  r.phase = record_phase::open;
  return r;
}

run_record closed_run(const std::string& job, std::int64_t nominal, run_result result) {
  run_record r = open_run(job, nominal);
  r.phase = record_phase::closed;
  r.started = second(nominal) + microseconds(1500);
  r.ended = second(nominal + 2);
  r.lateness = microseconds(1500);
  r.result = result;
  r.detail = "said \"no\"\nand went";
  r.attempts.push_back(closed_attempt(1, nominal, "output of " + job));
  return r;
}

run_record skipped_slot(const std::string& job, std::int64_t nominal, cause why) {
  run_record r = waiting_run(job, nominal);
  r.phase = record_phase::closed;
  r.outcome = slot_outcome::skipped;
  r.why = why;
  return r;
}

attempt_record open_attempt(std::uint32_t n, std::int64_t started) {
  attempt_record a;
  a.n = n;
  a.started = second(started);
  a.process = process_identity{.pid = 4711, .start_time = 0xfedc'ba98'7654'3210U, .boot_id = "boot-1"};
  return a;
}

attempt_record closed_attempt(std::uint32_t n, std::int64_t started, const std::string& output) {
  attempt_record a = open_attempt(n, started);
  a.ended = second(started + 1);
  a.result = run_result::failed;
  a.exit_code = 3;
  a.cpu = microseconds(1234);
  a.max_rss = 5'000'000'000;
  a.output_head = output;
  a.output_tail = std::string("\0\xff tail", 7);
  a.output_dropped = 12;
  return a;
}

job_record some_job(const std::string& name) {
  job_record j;
  j.name = name;
  j.trigger = "every 1s from end";
  j.judged_from = second(1);
  j.anchor = second(2);
  j.watermark = second(3);
  j.wall_high = second(4);
  j.epoch = 5;
  j.last_start = second(6);
  j.paused = true;
  j.runs = 7;
  j.failures = 8;
  j.last_error = "exit code 3";
  return j;
}

batch of(run_record record) {
  batch b;
  b.runs.push_back(std::move(record));
  return b;
}

batch of(std::vector<run_record> records) {
  batch b;
  b.runs = std::move(records);
  return b;
}

commit_error commit(store& to, test_loop& home, batch what) {
  std::optional<commit_error> result;
  to.submit(std::move(what), [&result](commit_error error) { result = std::move(error); });
  home.run_until([&result] { return result.has_value(); });
  return *result;
}

void commit_well(store& to, test_loop& home, batch what) {
  const commit_error error = commit(to, home, std::move(what));
  EXPECT_FALSE(error.failed) << error.message;
}

std::vector<run_record> everything(store& from) { return from.runs({.ran_only = false, .with_output = true}); }

void PrintTo(const run_record& record, std::ostream* out) {
  *out << record.key.job << '@' << record.key.nominal.time_since_epoch().count() << ' ' << to_string(record.phase) << ' '
       << to_string(record.outcome) << " attempts " << record.attempts.size();
}

void PrintTo(const job_record& record, std::ostream* out) { *out << "job " << record.name; }

}  // namespace looptask::ledger
