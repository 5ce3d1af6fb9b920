// The forms in which records leave the program: JSON for programs, words for people.
#include <gtest/gtest.h>

#include "schedule/instant_text.hpp"
#include "service/record_words.hpp"
#include "service/records_json.hpp"

namespace looptask::service {
namespace {

instant at(std::string_view text) { return schedule::parse_instant(text).value(); }

ledger::run_record failed_run() {
  ledger::run_record r;
  r.key = {.job = "report", .nominal = at("2026-03-29T01:00:00Z")};
  r.run_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  r.due = at("2026-03-29T01:00:00Z");
  r.decided = at("2026-03-29T01:00:00.001Z");
  r.started = at("2026-03-29T01:00:00.0015Z");
  r.ended = at("2026-03-29T01:00:02.5Z");
  r.lateness = microseconds(1500);
  r.result = run_result::failed;
  r.nominal_last = r.key.nominal;
  ledger::attempt_record a;
  a.started = *r.started;
  a.ended = r.ended;
  a.result = run_result::failed;
  a.exit_code = 3;
  a.cpu = microseconds(250'000);
  a.max_rss = 4096;
  r.attempts = {a};
  return r;
}

ledger::run_record missed_range() {
  ledger::run_record r;
  r.key = {.job = "report", .nominal = at("2026-03-29T01:00:00Z")};
  r.due = r.key.nominal;
  r.outcome = slot_outcome::missed;
  r.why = cause::down;
  r.detail = "down from 00:59 to 04:00";
  r.slots = 4;
  r.nominal_last = at("2026-03-29T04:00:00Z");
  return r;
}

ledger::run_record open_run() {
  ledger::run_record r = failed_run();
  r.phase = ledger::record_phase::open;
  r.ended.reset();
  r.result.reset();
  r.attempts[0].ended.reset();
  r.attempts[0].result.reset();
  r.attempts[0].exit_code.reset();
  return r;
}

TEST(RecordsJson, ARunHasThePromisedFields) {
  EXPECT_EQ(record_json(failed_run()),
            R"({"run_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","job":"report","kind":"schedule",)"
            R"("nominal":"2026-03-29T01:00:00.000Z","due":"2026-03-29T01:00:00.000Z",)"
            R"("started":"2026-03-29T01:00:00.001Z","ended":"2026-03-29T01:00:02.500Z",)"
            R"("outcome":"ran","result":"failed","cause":null,)"
            R"("attempts":[{"n":1,"started":"2026-03-29T01:00:00.001Z","ended":"2026-03-29T01:00:02.500Z","result":"failed",)"
            R"("exit_code":3,"signal":null,"duration":2.4985,"cpu":0.25,"max_rss":4096}],)"
            R"("detail":"","phase":"closed","epoch":0,"lateness":0.0015,"duration":2.4985,"slots":1,)"
            R"("nominal_last":"2026-03-29T01:00:00.000Z"})");
}

TEST(RecordsJson, WhatIsNotYetKnownIsNull) {
  const std::string json = record_json(open_run());
  for (const char* part : {R"("ended":null)", R"("result":null)", R"("exit_code":null)", R"("duration":null)",
                           R"("outcome":"ran")", R"("phase":"open")"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
}

TEST(RecordsJson, ASlotThatDidNotRunSaysWhy) {
  const std::string json = record_json(missed_range());
  for (const char* part : {R"("run_id":null)", R"("outcome":"missed")", R"("cause":"down")", R"("started":null)",
                           R"("attempts":[])", R"("slots":4)", R"("nominal_last":"2026-03-29T04:00:00.000Z")"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
}

TEST(RecordsJson, AWaitingSlotHasNoOutcomeYet) {
  ledger::run_record r = missed_range();
  r.phase = ledger::record_phase::waiting;
  EXPECT_NE(record_json(r).find(R"("outcome":null)"), std::string::npos);
}

TEST(RecordsJson, BytesThatAreNoTextBecomeReplacementCharacters) {
  ledger::run_record r = failed_run();
  r.detail = "said \xff\x01";
  EXPECT_NE(record_json(r).find("\"detail\":\"said \xef\xbf\xbd\\u0001\""), std::string::npos) << record_json(r);
}

TEST(RecordWords, ARow) {
  EXPECT_EQ(record_words(failed_run()),
            (std::vector<std::string>{"report", "2026-03-29T01:00:00Z", "1.50ms", "2.49s", "failed", "1", "exit code 3"}));
}

TEST(RecordWords, ARangeShowsItsEndsAndItsNumber) {
  EXPECT_EQ(record_words(missed_range()), (std::vector<std::string>{"report", "2026-03-29T01:00:00Z..2026-03-29T04:00:00Z", "-",
                                                                    "-", "missed x4", "-", "down: down from 00:59 to 04:00"}));
}

TEST(RecordWords, UnfinishedRunsSayHowFarTheyAre) {
  ledger::run_record r = open_run();
  EXPECT_EQ(record_words(r)[4], "running");
  r.started.reset();
  EXPECT_EQ(record_words(r)[4], "starting");
  r.phase = ledger::record_phase::waiting;
  EXPECT_EQ(record_words(r)[4], "waiting");
}

TEST(RecordWords, ASignalIsNamedAndADetailComesFirst) {
  ledger::run_record r = failed_run();
  r.attempts[0].exit_code.reset();
  r.attempts[0].signal = 9;
  EXPECT_EQ(record_words(r)[6], "signal 9");
  r.detail = "out of memory";
  r.why = cause::leftover;
  EXPECT_EQ(record_words(r)[6], "leftover: out of memory");
}

}  // namespace
}  // namespace looptask::service
