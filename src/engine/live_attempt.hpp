#pragma once
// One attempt that exists: the job's own object, and the guard around it. Whatever the job's code does (throws, ends twice,
// ends inside start) stops here and becomes words.
//
// Owner: the loop's thread. Destroying it destroys the job's object first, and nothing is heard of it afterwards.
//
//   run.attempt = std::make_unique<live_attempt>(*this, job, key, 1);  // *this hears of it
//   run.attempt->start(*run.body, run_id);
//   run.attempt->stop(*run.body, std::nullopt);
#include <memory>
#include <optional>
#include <string>

#include "engine/job_body.hpp"

namespace looptask::engine {

class live_attempt;

// What the engine hears of an attempt.
class attempt_watcher {
 public:
  virtual void on_attempt_process(live_attempt& of, const process_identity& who) = 0;
  virtual void on_attempt_unkillable(live_attempt& of, int left) = 0;
  virtual void on_attempt_end(live_attempt& of, attempt_end how) = 0;  // once
  virtual void on_misbehaviour(live_attempt& of, std::string what) = 0;

 protected:
  ~attempt_watcher() = default;
};

class live_attempt final : public attempt_events {
 public:
  live_attempt(attempt_watcher& watcher, std::string job, run_key key, std::uint32_t n)
      : watcher_(watcher), job_(std::move(job)), key_(std::move(key)), n_(n) {}
  ~live_attempt();
  live_attempt(const live_attempt&) = delete;
  live_attempt& operator=(const live_attempt&) = delete;

  // Starts the work. What it throws, or a null, ends the attempt as start_failed.
  void start(job_body& body, const std::string& run_id);
  // `cap` bounds the body's own kill_after.
  void stop(job_body& body, std::optional<microseconds> cap);
  bool ended() const noexcept { return ended_; }

  const std::string& job() const noexcept { return job_; }
  const run_key& key() const noexcept { return key_; }
  std::uint32_t n() const noexcept { return n_; }

 private:
  void on_process(const process_identity& who) override;
  void on_unkillable(int left) override;
  void on_end(attempt_end how) override;

  attempt_watcher& watcher_;
  const std::string job_;
  const run_key key_;
  const std::uint32_t n_;
  bool ended_ = false;
  bool deaf_ = false;  // being destroyed
  std::unique_ptr<attempt> work_;
};

}  // namespace looptask::engine
