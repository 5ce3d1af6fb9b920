// A job's failure, however it fails, touches no other job and not the loop.
#include <gtest/gtest.h>

#include "engine/house.hpp"

namespace looptask::engine {
namespace {

// The good job runs each second beside a bad one.
struct neighbours {
  house h;
  std::shared_ptr<scripted> bad, good;
  neighbours() {
    bad = h.job(every("bad", 60'000));
    good = h.job(every("good", 1000));
  }
  void run() {
    h.up();
    h.run_to(3500);
    EXPECT_EQ(good->started, 4U);
  }
};

TEST(Misbehaviour, ThrowingStart) {
  neighbours n;
  n.bad->throws = true;
  n.run();
  const ledger::run_record record = n.h.records().back();
  EXPECT_EQ(record.result, run_result::start_failed);
  EXPECT_EQ(record.detail, "cannot start") << "one line, whatever was thrown";
}

TEST(Misbehaviour, StartThatStartsNothing) {
  neighbours n;
  n.bad->nothing = true;
  n.run();
  EXPECT_EQ(n.h.it->status("bad")->last_error, "the job's body started nothing");
}

TEST(Misbehaviour, EndFromInsideStart) {
  neighbours n;
  n.bad->ends_inside = true;
  n.run();
  EXPECT_EQ(n.h.it->status("bad")->runs, 1U);
}

TEST(Misbehaviour, EndTwice) {
  neighbours n;
  n.bad->ends_twice = true;
  n.run();
  const lines log = n.h.take("body_misbehaved");
  EXPECT_EQ(log, lines{"0 body_misbehaved bad"});
  EXPECT_EQ(n.h.it->status("bad")->runs, 1U);
}

TEST(Misbehaviour, NeverEnding) {
  house h;
  schedule::job_definition d = every("bad", 1000);
  d.timeout = ms(100);
  const auto bad = h.job(d);
  bad->takes = microseconds::max();
  bad->deaf = true;
  const auto good = h.job(every("good", 1000));
  h.up();
  h.run_to(3500);
  EXPECT_EQ(good->started, 4U);
  EXPECT_EQ(h.take("slot_not_run").size(), 3U) << "it keeps its overlap place";
}

TEST(Misbehaviour, StopAndKillAfterThatThrow) {
  house h;
  schedule::job_definition d = every("bad", 60'000);
  d.timeout = ms(100);
  const auto bad = h.job(d);
  bad->takes = ms(500);
  bad->stop_throws = bad->kill_after_throws = true;
  const auto good = h.job(every("good", 1000));
  h.up();
  h.run_to(3500);
  EXPECT_EQ(good->started, 4U);
  EXPECT_EQ(h.records().back().result, run_result::timeout);
  EXPECT_EQ(h.take("body_misbehaved").size(), 2U);
}

TEST(Misbehaviour, AThrowingListenerIsTheLoopsAffair) {
  house h;
  const auto good = h.job(every("good", 1000));
  h.up();
  std::size_t errors = 0;
  h.loop->on_error([&](std::exception_ptr) { ++errors; });
  h.listener_throws = true;
  h.run_to(3500);
  EXPECT_EQ(good->started, 4U);
  EXPECT_EQ(errors, h.log.size());
}

}  // namespace
}  // namespace looptask::engine
