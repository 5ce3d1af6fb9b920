#include "jobs/callback.hpp"

#include <utility>

#include "jobs/thrown.hpp"

namespace looptask::jobs {
namespace {

using function = unique_function<void(const engine::attempt_context&)>;

class callback_attempt final : public engine::attempt, private runnable {
 public:
  callback_attempt(loop& where, std::shared_ptr<function> work, engine::attempt_context context, engine::attempt_events& events)
      : work_(std::move(work)), context_(std::move(context)), events_(events) {
    where.call_soon(*this);
  }

  void stop(microseconds) override { stopped_ = true; }

 private:
  void run() override {
    engine::attempt_end how;
    if (stopped_) {
      how.result = run_result::failed;
      how.error = "stopped before it was called";
    } else {
      try {
        (*work_)(context_);
      } catch (...) {
        how = end_by(std::current_exception());
      }
    }
    events_.on_end(std::move(how));  // may destroy this
  }
  void discard() noexcept override {}

  std::shared_ptr<function> work_;
  engine::attempt_context context_;
  engine::attempt_events& events_;
  bool stopped_ = false;
};

class callback final : public engine::job_body {
 public:
  callback(loop& where, function work) : loop_(where), work_(std::make_shared<function>(std::move(work))) {
    LOOPTASK_ASSERT(static_cast<bool>(*work_), "a callback job needs a function");
  }

  std::unique_ptr<engine::attempt> start(const engine::attempt_context& context, engine::attempt_events& events) override {
    return std::make_unique<callback_attempt>(loop_, work_, context, events);
  }
  microseconds kill_after() const override { return microseconds::zero(); }

 private:
  loop& loop_;
  std::shared_ptr<function> work_;  // an attempt may outlive the definition of its job
};

}  // namespace

std::unique_ptr<engine::job_body> make_callback(loop& where, unique_function<void(const engine::attempt_context&)> work) {
  return std::make_unique<callback>(where, std::move(work));
}

}  // namespace looptask::jobs
