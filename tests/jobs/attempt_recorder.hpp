#pragma once
// Starts one attempt of a body and remembers what it says. The loop stops when the attempt has ended.
#include <gtest/gtest.h>

#include <looptask/loop.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/job_body.hpp"

namespace looptask::jobs {

inline engine::attempt_context sample_context() {
  engine::attempt_context context;
  context.key.job = "sample";
  context.key.nominal = instant(std::chrono::seconds(1'700'000'000)) + std::chrono::milliseconds(250);
  context.run_id = "01HF00000000000000000000AB";
  context.attempt = 2;
  return context;
}

class attempt_recorder final : public engine::attempt_events {
 public:
  explicit attempt_recorder(loop& where) : loop_(where) {}

  void start(engine::job_body& body, const engine::attempt_context& context = sample_context()) {
    starting_ = true;
    attempt_ = body.start(context, *this);
    starting_ = false;
  }
  void stop(microseconds kill_after) {
    if (attempt_) attempt_->stop(kill_after);
  }
  engine::attempt_end run(engine::job_body& body, const engine::attempt_context& context = sample_context()) {
    start(body, context);
    loop_.run();
    return end.value();
  }

  std::optional<process_identity> process;
  std::optional<engine::attempt_end> end;
  std::vector<int> unkillable;           // what on_unkillable said
  unique_function<void()> when_started;  // called when there is a process
  unique_function<void()> when_unkillable;

 private:
  void on_process(const process_identity& who) override {
    EXPECT_FALSE(process || end || starting_);
    process = who;
    if (when_started) when_started();
  }
  void on_unkillable(int left) override {
    EXPECT_FALSE(end || starting_);
    unkillable.push_back(left);
    if (when_unkillable) when_unkillable();
  }
  void on_end(engine::attempt_end how) override {
    EXPECT_FALSE(end || starting_);
    end = std::move(how);
    attempt_.reset();
    loop_.stop();
  }

  loop& loop_;
  bool starting_ = false;
  std::unique_ptr<engine::attempt> attempt_;
};

}  // namespace looptask::jobs
