#pragma once
// N jobs that do nothing, each on a grid of one second, their slots spread evenly over it: N starts a second through the whole
// engine. One thread.
#include <cstdlib>
#include <memory>
#include <string>

#include <looptask/loop.hpp>

#include "engine/engine.hpp"
#include "jobs/callback.hpp"
#include "measure.hpp"

namespace looptask::bench {

struct noop_outcome {
  std::uint64_t starts = 0;         // counted ones
  double seconds = 0;               // over which they were counted
  double cpu_us = 0;                // of the process, over that time
  std::vector<double> lateness_us;  // of each counted start: from its due time to the call of the job
  engine::statistics engine;        // at the end
};

class noop_jobs final : private engine::listener {
 public:
  noop_jobs(loop& where, ledger::store& history, std::int64_t jobs) : loop_(where), jobs_(jobs) {
    engine::options how;
    how.max_running = static_cast<std::uint32_t>(jobs);
    engine::listener& told = *this;
    engine_ = std::make_unique<engine::engine>(loop_, history, how, told);
  }

  // The first second is for warming up and does not count.
  noop_outcome run(std::int64_t counted_seconds) {
    const std::shared_ptr<engine::job_body> body =
        jobs::make_callback(loop_, [this](const engine::attempt_context& context) { called(context); });
    for (std::int64_t i = 0; i < jobs_; ++i) {
      schedule::job_definition job;
      job.name = "job-" + std::to_string(i);
      job.trigger =
          schedule::every_trigger{std::chrono::seconds(1), schedule::interval_from::grid, microseconds(1'000'000 * i / jobs_)};
      engine_->add(std::move(job), body);
    }
    engine_->start();
    loop_.call_later(std::chrono::seconds(1), [this] {
      counting_ = true;
      begin_ = std::chrono::steady_clock::now();
      cpu_begin_ = cpu_microseconds(RUSAGE_SELF);
    });
    loop_.call_later(std::chrono::seconds(1 + counted_seconds), [this] {
      counting_ = false;
      outcome_.seconds = seconds_since(begin_);
      outcome_.cpu_us = cpu_microseconds(RUSAGE_SELF) - cpu_begin_;
      outcome_.engine = engine_->statistics();
      engine_->stop([this](const engine::stop_report&) { loop_.stop(); });
    });
    loop_.run();
    return std::move(outcome_);
  }

 private:
  // `every` lives on the elapsed timeline, which is equal to the wall clock as long as nobody sets that.
  void called(const engine::attempt_context& context) {
    if (!counting_) return;
    ++outcome_.starts;
    outcome_.lateness_us.push_back(static_cast<double>((loop_.where().clock().wall() - context.key.nominal).count()));
  }
  void on_event(const engine::event& what) override {
    if (what.what != engine::event_kind::ledger_trouble && what.what != engine::event_kind::record_refused) return;
    std::fprintf(stderr, "ledger: %s\n", std::string(what.text).c_str());
    std::exit(1);
  }

  loop& loop_;
  const std::int64_t jobs_;
  std::unique_ptr<engine::engine> engine_;
  bool counting_ = false;
  std::chrono::steady_clock::time_point begin_{};
  double cpu_begin_ = 0;
  noop_outcome outcome_;
};

}  // namespace looptask::bench
