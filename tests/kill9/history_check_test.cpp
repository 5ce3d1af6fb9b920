// The checker itself: each violation that it is there for is planted once and must be found.
#include "kill9/history_check.hpp"

#include <gtest/gtest.h>

namespace looptask::tests {
namespace {

using namespace std::chrono_literals;
using strings = std::vector<std::string>;

ledger::run_record ran(const std::string& job, std::int64_t at, run_result result = run_result::success) {
  ledger::run_record r;
  r.key.job = job;
  r.key.nominal = instant(microseconds(at));
  r.nominal_last = r.key.nominal;
  r.run_id = job + std::to_string(at);
  r.started = r.key.nominal + 1us;
  r.ended = r.key.nominal + 5us;
  r.result = result;
  ledger::attempt_record a;
  a.started = *r.started;
  a.ended = r.ended;
  a.result = result;
  r.attempts.push_back(a);
  return r;
}

ledger::run_record missed(const std::string& job, std::int64_t from, std::int64_t to, std::uint64_t slots) {
  ledger::run_record r;
  r.key.job = job;
  r.key.nominal = instant(microseconds(from));
  r.nominal_last = instant(microseconds(to));
  r.slots = slots;
  r.outcome = slot_outcome::missed;
  return r;
}

side_line line(const ledger::run_record& of, std::string word, std::string attempt = "1") {
  return {of.key.job, std::to_string(of.key.nominal.time_since_epoch().count()), std::move(attempt), of.run_id,
          std::move(word)};
}

const std::map<std::string, judged_job> grid{{"g", {judged_job::slots::grid, 10us}}};
const std::map<std::string, judged_job> end{{"e", {judged_job::slots::from_end, 10us}}};
const std::map<std::string, judged_job> start{{"s", {judged_job::slots::from_start, 10us}}};

void expect_one(const strings& violations, const char* part) {
  ASSERT_EQ(violations.size(), 1U) << testing::PrintToString(violations);
  EXPECT_NE(violations[0].find(part), std::string::npos) << violations[0];
}

TEST(check_slots, accepts_a_whole_history) {
  EXPECT_EQ(check_slots({ran("g", 0), missed("g", 10, 30, 3), ran("g", 40)}, grid), strings{});
  EXPECT_EQ(check_slots({ran("e", 0), ran("e", 15), ran("e", 30)}, end), strings{});
  EXPECT_EQ(check_slots({ran("s", 0), ran("s", 11), ran("s", 22)}, start), strings{});
}

TEST(check_slots, finds_what_is_wrong) {
  expect_one(check_slots({ran("g", 0), ran("g", 30)}, grid), "2 slots after it have no outcome");
  expect_one(check_slots({ran("g", 0), ran("g", 15)}, grid), "lost its phase");
  expect_one(check_slots({missed("g", 0, 20, 3), ran("g", 20)}, grid), "two outcomes");
  expect_one(check_slots({missed("g", 0, 20, 2), ran("g", 30)}, grid), "a range of 2 slots");
  expect_one(check_slots({ran("e", 0), ran("e", 20'018)}, end), "20003 us off");
  expect_one(check_slots({ran("s", 0), ran("s", 20'014)}, start), "20003 us off");
  expect_one(check_slots({missed("e", 0, 0, 1), ran("e", 10)}, end), "is not a run");
  expect_one(check_slots({}, grid), "no record at all");
  ledger::run_record open = ran("g", 0);
  open.phase = ledger::record_phase::open;
  expect_one(check_slots({open}, grid), "is open");
  expect_one(check_slots({ran("e", 0, run_result::interrupted), ran("e", 20'018)}, end), "20003 us off");
  ledger::run_record endless = ran("g", 0);
  endless.result.reset();
  expect_one(check_slots({endless}, grid), "without a result");
}

TEST(check_slots, accepts_one_slot_that_waits_for_the_next_start) {
  ledger::run_record waiting = ran("g", 10);
  waiting.phase = ledger::record_phase::waiting;
  waiting.result.reset();
  waiting.attempts.clear();
  EXPECT_EQ(check_slots({ran("g", 0), waiting}, grid), strings{});
  ledger::run_record second = waiting;
  second.key.nominal += 10us;
  second.nominal_last += 10us;
  expect_one(check_slots({ran("g", 0), waiting, second}, grid), "a second slot");
}

TEST(check_slots, lets_an_interrupted_run_end_for_its_job_before_it_started) {
  ledger::run_record interrupted = ran("e", 0, run_result::interrupted);
  interrupted.ended = interrupted.key.nominal + 50ms;
  EXPECT_EQ(check_slots({interrupted, ran("e", 20'000)}, end), strings{});
  ledger::run_record ended = interrupted;
  ended.result = run_result::failed;
  expect_one(check_slots({ended, ran("e", 20'000)}, end), "-30010 us off");
}

TEST(check_slots, finds_two_records_with_one_key) {
  const strings found = check_slots({ran("g", 0), ran("g", 0)}, grid);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("two records with one key"), std::string::npos);
}

TEST(check_side_log, accepts_begin_and_end) {
  const auto r = ran("g", 0);
  EXPECT_EQ(check_side_log({r}, {line(r, "begin"), line(r, "end")}), strings{});
  const auto interrupted = ran("g", 10, run_result::interrupted);
  EXPECT_EQ(check_side_log({interrupted}, {line(interrupted, "begin")}), strings{});
}

TEST(check_side_log, finds_what_is_wrong) {
  const auto r = ran("g", 0);
  expect_one(check_side_log({r}, {line(r, "begin")}), "success without an end line");
  expect_one(check_side_log({r}, {line(r, "begin"), line(r, "begin"), line(r, "end")}), "began twice");
  expect_one(check_side_log({r}, {line(r, "end")}), "ended without a begin");
  expect_one(check_side_log({r}, {line(r, "begin"), line(r, "end"), line(r, "end")}), "ended twice");
  expect_one(check_side_log({r}, {line(r, "overlap"), line(r, "begin"), line(r, "end")}), "was alive");
  expect_one(check_side_log({r}, {line(r, "begin"), line(r, "end"), line(r, "begin", "2")}), "without a record of the attempt");
  expect_one(check_side_log({}, {line(r, "begin")}), "no such run");
}

TEST(check_side_log, finds_one_slot_begun_by_two_runs) {
  const auto first = ran("g", 0, run_result::interrupted);
  auto second = first;
  second.run_id = "other";
  expect_one(check_side_log({first, second}, {line(first, "begin"), line(second, "begin")}), "began twice");
}

TEST(side_log, refuses_a_torn_line) { EXPECT_THROW(parse_side_log("job nominal 1 run"), std::runtime_error); }

}  // namespace
}  // namespace looptask::tests
