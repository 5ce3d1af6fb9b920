#include "jobs/command.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "jobs/command_environment.hpp"
#include "jobs/output_capture.hpp"
#include "jobs/system_names.hpp"

namespace looptask::jobs {
namespace {

// What does not die is killed again after this long, then after twice as long each time.
constexpr duration first_repeat_of_kill = std::chrono::seconds(1);
constexpr duration longest_repeat_of_kill = std::chrono::seconds(60);

// One attempt. The three ends (main process, output, session) come from the port in any order; conclude() is where the last
// of them leads.
class command_attempt final : public engine::attempt, private process_events {
 public:
  command_attempt(loop& where, std::shared_ptr<const command_options> options, const engine::attempt_context& context,
                  engine::attempt_events& events)
      : loop_(where), options_(std::move(options)), events_(events), output_(options_->output_limit), hold_(where.hold()) {
    process_spec spec;
    spec.argv = options_->argv;
    spec.env = make_environment(*options_, context, where.where().files());
    spec.workdir = options_->workdir;
    child_ = where.where().processes().spawn(std::move(spec), *this);
  }

  void stop(microseconds kill_after) override {
    if (killing_ || !child_) return;
    const monotonic_time latest = loop_.after(std::max(kill_after, microseconds::zero()));
    const bool again = stopping_;
    if (!again) {
      stopping_ = true;
      child_->signal_group(options_->stop_signal);
      if (options_->stop_signal != SIGKILL) child_->signal_group(SIGCONT);
    }
    if (again && kill_timer_.armed() && kill_timer_.deadline() <= latest) return;
    kill_timer_.arm(latest);
  }

 private:
  void on_spawned(const process_identity& who) override { events_.on_process(who); }

  void on_spawn_failed(int error, std::string_view what) override {
    engine::attempt_end how;
    how.result = run_result::start_failed;
    how.error = std::string(what) + ": " + error_text(error);
    end(std::move(how));
  }

  void on_output(std::string_view bytes) override { output_.append(bytes); }

  void on_output_end() override {
    output_open_ = false;
    if (exit_ && !killing_) kill_session();
    if (session_empty_) conclude();
  }

  void on_exit(const process_exit& how) override {
    exit_ = how;
    if (again_timer_.armed()) return kill_again();  // it has died at last
    if (killing_) return;
    if (output_open_)
      drain_timer_.arm_after(options_->output_drain);
    else
      kill_session();
  }

  void on_drained() {
    if (!killing_) kill_session();
  }

  void kill_session() {
    killing_ = true;
    main_ended_first_ = exit_.has_value();
    kill_timer_.cancel();
    drain_timer_.cancel();
    kill_again();
  }

  void kill_again() {
    again_timer_.cancel();
    child_->kill_session([this](int killed, int left) { on_killed(killed, left); });
  }

  // What the dead wrote before they died still lies in the pipe: it is read before the loop comes to rest. Somebody outside
  // of the session may hold the other end for ever; the end of the output is not waited for again.
  // While something is left the attempt goes on, so that nothing of the job starts beside it.
  void on_killed(int killed, int left) {
    killed_ = std::max(killed_, killed);
    if (left > 0) {
      again_timer_.arm_after(std::min(longest_repeat_of_kill, first_repeat_of_kill * (1 << std::min(in_vain_++, 6))));
      return events_.on_unkillable(left);
    }
    session_empty_ = true;
    if (!output_open_) return conclude();
    loop_.call_idle([weak = std::weak_ptr<command_attempt*>(self_)] {
      if (const auto self = weak.lock()) (*self)->conclude();
    });
  }

  void conclude() {
    engine::attempt_end how;
    how.result = run_result::failed;
    if (exit_) {
      how.exit_code = exit_->code;
      how.signal = exit_->signal;
      how.cpu = exit_->cpu;
      how.max_rss = exit_->max_rss;
      how.ended = exit_->at;
    }
    how.leftover_killed = main_ended_first_ && killed_ > 0;
    how.error = describe_failure();
    if (how.error.empty()) how.result = run_result::success;
    end(std::move(how));
  }

  // Empty: it went well.
  std::string describe_failure() const {
    if (!exit_ || (!exit_->code && !exit_->signal)) return "how it ended is not known: something else took its exit status";
    if (exit_->signal) return "killed by " + signal_name(*exit_->signal);
    const auto& good = options_->success_codes;
    if (std::find(good.begin(), good.end(), *exit_->code) != good.end()) return {};
    return "exit code " + std::to_string(*exit_->code);
  }

  void end(engine::attempt_end how) {
    kill_timer_.cancel();
    drain_timer_.cancel();
    again_timer_.cancel();
    self_.reset();
    child_.reset();  // no more calls
    output_capture::result kept = std::move(output_).take();
    how.output_head = std::move(kept.head);
    how.output_tail = std::move(kept.tail);
    how.output_dropped = kept.dropped;
    events_.on_end(std::move(how));  // may destroy this
  }

  loop& loop_;
  const std::shared_ptr<const command_options> options_;  // an attempt may outlive the definition of its job
  engine::attempt_events& events_;
  output_capture output_;
  loop_hold hold_;  // children are watched behind the loop's back
  std::unique_ptr<child_process> child_;
  std::optional<process_exit> exit_;
  bool output_open_ = true;
  bool stopping_ = false;
  bool killing_ = false;           // KILL has been asked for; nothing else is decided from here on
  bool main_ended_first_ = false;  // before KILL was asked for: the others are leftovers
  bool session_empty_ = false;     // nothing of it is alive
  int killed_ = 0;
  int in_vain_ = 0;  // how often something was left after KILL
  std::shared_ptr<command_attempt*> self_ = std::make_shared<command_attempt*>(this);
  timer_of<&command_attempt::kill_session> kill_timer_{loop_, *this};
  timer_of<&command_attempt::on_drained> drain_timer_{loop_, *this};
  timer_of<&command_attempt::kill_again> again_timer_{loop_, *this};
};

class command final : public engine::job_body {
 public:
  command(loop& where, command_options options)
      : loop_(where), options_(std::make_shared<const command_options>(std::move(options))) {
    LOOPTASK_ASSERT(!options_->argv.empty(), "a command needs a program");
    LOOPTASK_ASSERT(options_->workdir.starts_with('/'), "a command needs an absolute workdir");
  }

  std::unique_ptr<engine::attempt> start(const engine::attempt_context& context, engine::attempt_events& events) override {
    return std::make_unique<command_attempt>(loop_, options_, context, events);
  }
  microseconds kill_after() const override { return options_->kill_after; }

 private:
  loop& loop_;
  std::shared_ptr<const command_options> options_;
};

}  // namespace

std::unique_ptr<engine::job_body> make_command(loop& where, command_options options) {
  return std::make_unique<command>(where, std::move(options));
}

}  // namespace looptask::jobs
