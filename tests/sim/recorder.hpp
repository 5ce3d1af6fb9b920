#pragma once
// Records what a host tells: a process's events as text lines, and work that was posted to an inbox. Used by the tests of
// ports.
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <looptask/host.hpp>

namespace looptask::test {

// An inbox without a loop: the test runs what was posted.
class posted final : public inbox {
 public:
  explicit posted(host& where) : where_(where) { where_.attach(*this); }
  posted(const posted&) = delete;
  posted& operator=(const posted&) = delete;
  ~posted() { where_.detach(); }
  void post(unique_function<void()> work) override {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    where_.reactor().wake();
  }
  // One turn as a loop makes it: wait, then what was posted.
  void turn(std::optional<monotonic_time> until) {
    where_.reactor().wait(until);
    std::vector<unique_function<void()>> ready;
    {
      const std::lock_guard lock(mutex_);
      ready.swap(work_);
    }
    for (auto& work : ready) work();
  }

 private:
  host& where_;
  std::mutex mutex_;
  std::vector<unique_function<void()>> work_;
};

class process_recorder final : public process_events {
 public:
  void on_spawned(const process_identity& who) override {
    identity = who;
    lines.emplace_back("spawned");
  }
  void on_spawn_failed(int error, std::string_view what) override {
    lines.push_back("failed " + std::string(what) + " " + std::to_string(error));
  }
  void on_output(std::string_view bytes) override {
    output.append(bytes);
    if (lines.empty() || lines.back() != "output") lines.emplace_back("output");
  }
  void on_output_end() override {
    output_ended = true;
    lines.emplace_back("output-end");
  }
  void on_exit(const process_exit& how) override {
    exit = how;
    lines.push_back(how.code ? "exit " + std::to_string(*how.code) : "signal " + std::to_string(how.signal.value_or(0)));
  }
  bool over() const { return exit.has_value() && output_ended; }

  process_identity identity;
  std::optional<process_exit> exit;
  bool output_ended = false;
  std::string output;
  std::vector<std::string> lines;
};

}  // namespace looptask::test
