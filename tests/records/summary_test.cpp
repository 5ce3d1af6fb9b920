#include "service/summary.hpp"

#include <gtest/gtest.h>

namespace looptask::service {
namespace {

using engine::event_kind;

class Summary : public testing::Test {
 protected:
  summary total;

  void note(event_kind what, std::string_view job, const ledger::run_record* run,
            const ledger::attempt_record* attempt = nullptr) {
    engine::event e;
    e.what = what;
    e.job = job;
    e.run = run;
    e.attempt = attempt;
    total.note(e);
  }
  void run_ended(const std::string& job, run_result result, microseconds late, const std::vector<run_result>& attempts = {}) {
    ledger::run_record r;
    r.key.job = job;
    r.result = result;
    r.lateness = late;
    for (const run_result each : attempts) {
      ledger::attempt_record attempt;
      attempt.n = r.attempts.empty() ? 1 : r.attempts.back().n + 1;
      attempt.result = each;
      r.attempts.assign(1, attempt);
      note(event_kind::attempt_ended, job, &r, &attempt);
    }
    note(event_kind::run_ended, job, &r);
  }
  void not_run(const std::string& job, slot_outcome outcome, cause why, std::uint64_t slots = 1) {
    ledger::run_record r;
    r.key.job = job;
    r.outcome = outcome;
    r.why = why;
    r.slots = slots;
    note(event_kind::slot_not_run, job, &r);
  }
};

TEST_F(Summary, OfNothingIsATotalOfZero) {
  EXPECT_EQ(total.text(),
            "JOB    RUNS  FAILURES  RETRIES  TIMEOUTS  LATE p50  p99  SLOTS THAT DID NOT RUN\n"
            "total     0         0        0         0         -    -\n");
  EXPECT_EQ(total.json(),
            R"({"schema_version":1,"jobs":[],"total":{"runs":0,"failures":0,"results":{},"interrupted":0,"retries":0,)"
            R"("timeouts":0,"not_run":[],"lateness_p50":null,"lateness_p99":null}})"
            "\n");
}

TEST_F(Summary, CountsRunsByResultAndAttemptsByNumber) {
  run_ended("a", run_result::success, microseconds(100), {run_result::timeout, run_result::success});
  run_ended("b", run_result::failed, microseconds(250));
  run_ended("b", run_result::killed, microseconds(200));
  EXPECT_EQ(total.jobs().at("a").failures(), 0U);
  EXPECT_EQ(total.jobs().at("a").retries, 1U);
  EXPECT_EQ(total.jobs().at("a").timeouts, 1U);
  EXPECT_EQ(total.jobs().at("b").failures(), 2U);
  EXPECT_EQ(total.text(),
            "JOB    RUNS  FAILURES  RETRIES  TIMEOUTS  LATE p50    p99  SLOTS THAT DID NOT RUN\n"
            "a         1         0        1         1     100us  100us\n"
            "b         2         2        0         0     200us  250us\n"
            "total     3         2        1         1     200us  250us\n");
}

TEST_F(Summary, SumsSlotsThatDidNotRunByOutcomeAndCause) {
  not_run("a", slot_outcome::missed, cause::down, 40);
  not_run("a", slot_outcome::skipped, cause::overlap);
  not_run("b", slot_outcome::skipped, cause::overlap, 2);
  EXPECT_NE(
      total.text().find("total     0         0        0         0         -    -  3 skipped (overlap), 40 missed (down)\n"),
      std::string::npos)
      << total.text();
  EXPECT_NE(total.json().find(R"("not_run":[{"outcome":"skipped","cause":"overlap","slots":3},)"
                              R"({"outcome":"missed","cause":"down","slots":40}])"),
            std::string::npos)
      << total.json();
}

TEST_F(Summary, RunsOfAnEarlierLifeStandApart) {
  run_ended("a", run_result::interrupted, microseconds(5));
  EXPECT_EQ(total.total().runs, 0U);
  EXPECT_EQ(total.total().interrupted, 1U);
  EXPECT_EQ(total.total().lateness.count(), 0U);
  EXPECT_NE(total.text().find("1 run of an earlier life was interrupted\n"), std::string::npos);
}

TEST_F(Summary, AJobThatWasRemovedStandsOnlyForWhatItDid) {
  note(event_kind::job_removed, "old", nullptr);
  EXPECT_TRUE(total.jobs().empty());
  note(event_kind::job_added, "idle", nullptr);
  note(event_kind::job_removed, "idle", nullptr);
  run_ended("busy", run_result::success, microseconds(5));
  note(event_kind::job_removed, "busy", nullptr);
  ASSERT_EQ(total.jobs().size(), 1U);
  EXPECT_EQ(total.jobs().begin()->first, "busy");
}

TEST_F(Summary, EventsOfTheServiceAsAWholeAreNoJob) {
  note(event_kind::clock_step, "", nullptr);
  EXPECT_TRUE(total.jobs().empty());
}

}  // namespace
}  // namespace looptask::service
