// Callbacks and coroutines as job bodies.
#include <gtest/gtest.h>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>
#include <looptask/scope.hpp>
#include <looptask/sleep.hpp>
#include <looptask/task.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "jobs/attempt_recorder.hpp"
#include "jobs/callback.hpp"
#include "jobs/coroutine.hpp"

namespace looptask::jobs {
namespace {

using namespace std::chrono_literals;

class FunctionJob : public testing::Test {
 protected:
  real_host host;
  loop events{host};
  attempt_recorder recorder{events};
};

TEST_F(FunctionJob, ACallbackThatReturnsIsASuccess) {
  std::string seen;
  const auto body = make_callback(events, [&](const engine::attempt_context& context) {
    seen = context.key.job + "/" + context.run_id + "/" + std::to_string(context.attempt);
  });
  recorder.start(*body);
  EXPECT_EQ(seen, "");  // never from inside start
  events.run();
  EXPECT_EQ(seen, "sample/01HF00000000000000000000AB/2");
  EXPECT_EQ(recorder.end.value().result, run_result::success);
  EXPECT_EQ(recorder.end.value().error, "");
}

TEST_F(FunctionJob, WhatACallbackThrowsIsTheError) {
  const auto body = make_callback(events, [](const engine::attempt_context&) { throw std::runtime_error("no\nluck"); });
  const auto how = recorder.run(*body);
  EXPECT_EQ(how.result, run_result::failed);
  EXPECT_EQ(how.error, "no luck");
}

TEST_F(FunctionJob, AThrownNumberIsAnErrorToo) {
  const auto body = make_callback(events, [](const engine::attempt_context&) { throw 7; });
  EXPECT_EQ(recorder.run(*body).error, "an exception that is no std::exception");
}

TEST_F(FunctionJob, ACallbackThatIsStoppedFirstIsNotCalled) {
  bool called = false;
  const auto body = make_callback(events, [&](const engine::attempt_context&) { called = true; });
  recorder.start(*body);
  recorder.stop(1h);
  events.run();
  EXPECT_FALSE(called);
  EXPECT_EQ(recorder.end.value().result, run_result::failed);
}

TEST_F(FunctionJob, AnAttemptOutlivesItsBody) {
  bool called = false;
  auto body = make_callback(events, [&](const engine::attempt_context&) { called = true; });
  recorder.start(*body);
  body.reset();
  events.run();
  EXPECT_TRUE(called);
}

task<void> append(std::string* to, engine::attempt_context context) {
  co_await sleep_for(1ms);
  *to += context.key.job;
}

TEST_F(FunctionJob, ACoroutineThatReturnsIsASuccess) {
  std::string seen;
  const auto body =
      make_coroutine(events, [&seen](engine::attempt_context context) { return append(&seen, std::move(context)); });
  EXPECT_EQ(recorder.run(*body).result, run_result::success);
  EXPECT_EQ(seen, "sample");
}

task<void> fail_late(engine::attempt_context) {
  co_await sleep_for(1ms);
  throw std::runtime_error("late");
}

TEST_F(FunctionJob, WhatACoroutineThrowsIsTheError) {
  const auto body = make_coroutine(events, fail_late);
  const auto how = recorder.run(*body);
  EXPECT_EQ(how.result, run_result::failed);
  EXPECT_EQ(how.error, "late");
}

TEST_F(FunctionJob, WhatTheFunctionThrowsBeforeThereIsACoroutineIsTheError) {
  const auto body = make_coroutine(events, [](engine::attempt_context) -> task<void> { throw std::runtime_error("early"); });
  EXPECT_EQ(recorder.run(*body).error, "early");
}

task<void> sleep_long(engine::attempt_context) { co_await sleep_for(1h); }

TEST_F(FunctionJob, StopCancelsACoroutineAtItsAwait) {
  const auto body = make_coroutine(events, sleep_long);
  recorder.start(*body);
  events.call_later(5ms, [&] { recorder.stop(1h); });
  events.run();
  EXPECT_EQ(recorder.end.value().result, run_result::failed);
  EXPECT_EQ(recorder.end.value().error, "cancelled");
}

TEST_F(FunctionJob, StopBeforeTheFirstStepCancelsACoroutine) {
  const auto body = make_coroutine(events, sleep_long);
  recorder.start(*body);
  recorder.stop(1h);
  events.run();
  EXPECT_EQ(recorder.end.value().error, "cancelled");
}

task<void> clean_up(bool* cleaned, engine::attempt_context) {
  struct mark {
    bool* where;
    ~mark() { *where = true; }
  } const at_the_end{cleaned};
  co_await sleep_for(1h);
}

TEST_F(FunctionJob, ALetGoAttemptIsCancelled) {
  bool cleaned = false;
  const auto body = make_coroutine(events, [&cleaned](engine::attempt_context c) { return clean_up(&cleaned, std::move(c)); });
  auto attempt = body->start(sample_context(), recorder);
  events.call_later(5ms, [&] { attempt.reset(); });
  events.run();  // ends by itself: nothing is left to wait for
  EXPECT_TRUE(cleaned);
  EXPECT_FALSE(recorder.end);
}

TEST(FunctionJobEnd, ALoopThatGoesTakesTheCoroutineWithIt) {
  bool cleaned = false;
  real_host host;
  std::unique_ptr<engine::attempt> attempt;
  {
    loop events(host);
    attempt_recorder recorder(events);
    const auto body =
        make_coroutine(events, [&cleaned](engine::attempt_context c) { return clean_up(&cleaned, std::move(c)); });
    attempt = body->start(sample_context(), recorder);
    events.call_later(5ms, [&] { events.stop(); });
    events.run();
    EXPECT_FALSE(cleaned);
  }
  EXPECT_TRUE(cleaned);
}

}  // namespace
}  // namespace looptask::jobs
