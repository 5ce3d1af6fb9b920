#include "jobs/coroutine.hpp"

#include <stdexcept>
#include <utility>

#include <looptask/scope.hpp>

#include "jobs/thrown.hpp"

namespace looptask::jobs {
namespace {

using function = unique_function<task<void>(engine::attempt_context)>;

// Shared by an attempt and its task; either may go first.
struct progress {
  engine::attempt_events* events;  // nullptr: the attempt is gone
  cancel_scope* scope = nullptr;   // while the task is inside
  bool stopped = false;
};

// The scope lives in the frame, so that it ends with the task, also when the loop ends both.
class entered {
 public:
  entered(loop& where, std::shared_ptr<progress> state) : scope_(where), state_(std::move(state)) {
    state_->scope = &scope_;
    if (state_->stopped) scope_.cancel();
  }
  ~entered() { state_->scope = nullptr; }
  entered(const entered&) = delete;
  entered& operator=(const entered&) = delete;
  cancel_scope& scope() noexcept { return scope_; }

 private:
  cancel_scope scope_;
  std::shared_ptr<progress> state_;
};

task<void> run_inside(loop& where, std::shared_ptr<progress> state, std::shared_ptr<function> work,
                      engine::attempt_context context) {
  entered inside(where, state);
  task<void> inner = (*work)(std::move(context));
  const bool finished = co_await inside.scope().run(std::move(inner));
  if (!finished) throw std::runtime_error("cancelled");
}

class coroutine_attempt final : public engine::attempt {
 public:
  coroutine_attempt(loop& where, std::shared_ptr<function> work, engine::attempt_context context,
                    engine::attempt_events& events)
      : state_(std::make_shared<progress>(progress{&events})) {
    spawn(where, run_inside(where, state_, std::move(work), std::move(context)), [state = state_](outcome<void> result) {
      if (state->events == nullptr) return;
      engine::attempt_end how;
      if (!result.ok()) how = end_by(result.error());
      std::exchange(state->events, nullptr)->on_end(std::move(how));  // may destroy the attempt
    });
  }
  // Whoever lets go of an attempt that has not ended does not want it to go on.
  ~coroutine_attempt() override {
    state_->events = nullptr;
    coroutine_attempt::stop(microseconds::zero());
  }
  coroutine_attempt(const coroutine_attempt&) = delete;
  coroutine_attempt& operator=(const coroutine_attempt&) = delete;

  void stop(microseconds) override {
    state_->stopped = true;
    if (state_->scope != nullptr) state_->scope->cancel();
  }

 private:
  std::shared_ptr<progress> state_;
};

class coroutine final : public engine::job_body {
 public:
  coroutine(loop& where, function work) : loop_(where), work_(std::make_shared<function>(std::move(work))) {
    LOOPTASK_ASSERT(static_cast<bool>(*work_), "a coroutine job needs a function");
  }

  std::unique_ptr<engine::attempt> start(const engine::attempt_context& context, engine::attempt_events& events) override {
    return std::make_unique<coroutine_attempt>(loop_, work_, context, events);
  }
  microseconds kill_after() const override { return microseconds::zero(); }

 private:
  loop& loop_;
  std::shared_ptr<function> work_;  // an attempt may outlive the definition of its job
};

}  // namespace

std::unique_ptr<engine::job_body> make_coroutine(loop& where, unique_function<task<void>(engine::attempt_context)> work) {
  return std::make_unique<coroutine>(where, std::move(work));
}

}  // namespace looptask::jobs
