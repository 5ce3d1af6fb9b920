#pragma once
// Remembers what the process port says about one child, and calls back at the steps a test waits for.
#include <looptask/host.hpp>
#include <looptask/loop.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace looptask {

class child_recorder final : public process_events {
 public:
  explicit child_recorder(loop& where) : loop_(where), hold_(where.hold()) {}

  void spawn(std::vector<std::string> argv, std::vector<std::string> env = {"PATH=/usr/bin:/bin"}, std::string workdir = "/") {
    process_spec spec{std::move(argv), std::move(env), std::move(workdir)};
    spec.containment = containment;
    spec.end_with_us = end_with_us;
    child = loop_.where().processes().spawn(std::move(spec), *this);
  }
  void shell(const std::string& line, std::string workdir = "/") {
    spawn({"/bin/sh", "-c", line}, {"PATH=/usr/bin:/bin"}, std::move(workdir));
  }
  void kill() {
    child->kill_session([this](int killed_now, int left_now) {
      killed = killed_now;
      left = left_now;
      EXPECT_TRUE(left != 0 || exit || spawn_error != 0);
      check();
    });
  }
  // Runs the loop until `done` holds after some event of this child.
  void run_until(unique_function<bool()> done) {
    done_ = std::move(done);
    if (!done_()) loop_.run();
    done_ = nullptr;
  }
  // For what comes to pass elsewhere: looks whether `done` holds now.
  void look() { check(); }
  void run_to_exit() {
    run_until([this] { return (exit && output_ended) || spawn_error; });
  }
  void run_to_kill() {
    run_until([this] { return killed.has_value(); });
  }

  containment_tier containment = containment_tier::session;
  bool end_with_us = false;
  std::unique_ptr<child_process> child;
  std::vector<std::string> steps;
  process_identity who;
  int spawn_error = 0;
  std::string failed_step;
  std::string output;
  bool keep_output = true;
  std::uint64_t output_size = 0;
  bool output_ended = false;
  std::optional<process_exit> exit;
  std::optional<int> killed;
  std::optional<int> left;

 private:
  void on_spawned(const process_identity& identity) override {
    who = identity;
    step("spawned");
  }
  void on_spawn_failed(int error, std::string_view what) override {
    spawn_error = error;
    failed_step = what;
    step("failed");
  }
  void on_output(std::string_view bytes) override {
    output_size += bytes.size();
    if (keep_output) output += bytes;
    check();
  }
  void on_output_end() override {
    output_ended = true;
    step("output end");
  }
  void on_exit(const process_exit& how) override {
    exit = how;
    step("exit");
  }
  void step(std::string what) {
    steps.push_back(std::move(what));
    check();
  }
  void check() {
    if (done_ && done_()) loop_.stop();
  }

  loop& loop_;
  loop_hold hold_;  // the port works behind the loop's back
  unique_function<bool()> done_;
};

}  // namespace looptask
