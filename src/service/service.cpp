#include "service/service.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "jobs/command.hpp"
#include "schedule/instant_text.hpp"
#include "service/counted.hpp"
#include "service/duration.hpp"
#include "service/job_command.hpp"

namespace looptask::service {
namespace {

engine::options engine_options(const configuration& what, const run_options& how) {
  engine::options options;
  options.max_running = static_cast<std::uint32_t>(what.max_running);
  options.shutdown_grace = what.shutdown_grace;
  options.manual_only = how.once;
  return options;
}

bool has_schedule(const job_settings& job) { return !std::holds_alternative<std::monostate>(job.definition.trigger); }

}  // namespace

service::service(loop& home, ledger::store& history, configuration what, run_options how, event_log& log)
    : loop_(home),
      what_(std::move(what)),
      how_(std::move(how)),
      log_(log),
      engine_(home, history, engine_options(what_, how_), *this),
      limit_(home, *this) {}

service::~service() {
  if (!watching_) return;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) loop_.where().signals().unwatch(number);
}

instant service::wall() { return loop_.where().clock().wall(); }

void service::start(unique_function<void()> ended) {
  ended_ = std::move(ended);
  started_ = wall();
  add_jobs();
  engine_.start();
  hold_ = loop_.hold();
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) loop_.where().signals().watch(number, [this](int n) { on_signal(n); });
  watching_ = true;
  loop_.call_idle([this] { say_started(); });
  if (how_.lasting) limit_.arm_after(*how_.lasting);
  if (how_.once) run_all_once();
  if (how_.trust_clock) engine_.confirm_wall_clock();
}

void service::add_jobs() {
  for (const auto& job : what_.jobs)
    engine_.add(job.definition, jobs::make_command(loop_, command_of(job, what_, how_.environment)));
}

void service::say_started() {
  std::size_t disabled = 0, due_now = 0;
  std::optional<instant> next;
  std::string next_job;
  for (const auto& job : what_.jobs) {
    if (!job.definition.enabled) ++disabled;
    const auto status = engine_.status(job.definition.name);
    if (status && !(status->active.empty() && status->waiting == 0)) ++due_now;
    if (!status || !status->next_due || (next && *next <= *status->next_due)) continue;
    next = status->next_due;
    next_job = status->name;
  }
  const std::string jobs =
      counted(what_.jobs.size(), "job") + (disabled == 0 ? "" : " (" + std::to_string(disabled) + " disabled)");
  const std::string zone = what_.zone.name() + (what_.zone_given ? "" : " (no service.timezone is set)");
  std::string text = "started: " + what_.file + ", " + jobs + ", times in " + zone + ", data in " + how_.data_directory;
  if (how_.once)
    text += ", each runs once";
  else
    text += (due_now > 0 ? ", due now: " + counted(due_now, "job") : "") +
            (next ? ", next due " + next_job + " at " + log_.time_text(*next) : "");
  log_fields fields{{"config", what_.file},
                    {"jobs", static_cast<std::int64_t>(what_.jobs.size())},
                    {"timezone", what_.zone.name()},
                    {"data_dir", how_.data_directory}};
  if (next) {
    fields.emplace_back("next_job", next_job);
    fields.emplace_back("next_due", schedule::instant_text(*next, schedule::fraction::milliseconds));
  }
  log_.note(wall(), log_level::info, "started", text, fields);
}

void service::run_all_once() {
  for (const auto& job : what_.jobs)
    if (job.definition.enabled && has_schedule(job)) once_.emplace(job.definition.name, engine_.new_run_id());
  for (const auto& [job, run_id] : once_) engine_.trigger(job, run_id);
  if (once_.empty()) stop("nothing to run once");
}

void service::one_done(std::string_view job, std::string_view run_id) {
  const auto waiting = once_.find(job);
  if (waiting == once_.end() || (!run_id.empty() && waiting->second != run_id)) return;
  once_.erase(waiting);
  // After a signal it is the stop that ends the runs: this is no second request for it.
  if (once_.empty() && stops_ == 0) stop("all jobs have run once");
}

void service::on_event(const engine::event& what) {
  totals_.note(what);
  log_event(what);
  const bool over = what.what == engine::event_kind::run_ended || what.what == engine::event_kind::slot_not_run;
  if (how_.once && over && what.run->key.kind == run_kind::manual) one_done(what.job, what.run->run_id);
}

void service::log_event(const engine::event& what) {
  // Of jobs that were never there before there is nothing to tell: all of them are in the file.
  if (what.what == engine::event_kind::job_added) return;
  if (what.what != engine::event_kind::clock_implausible || how_.trust_clock) return log_.event(what);
  const std::string text = std::string(what.text) + "; if it is right, start with --trust-clock";
  engine::event with_advice = what;
  with_advice.text = text;
  log_.event(with_advice);
}

void service::on_limit() { stop("the time given with --for is over"); }

void service::stop(std::string_view why) { stop(why, false); }

void service::on_signal(int number) {
  if (number == SIGHUP)
    log_.note(wall(), log_level::warning, "reload",
              "SIGHUP: reading the configuration again is not in this version yet; restart");
  else
    stop(number == SIGINT ? "SIGINT" : "SIGTERM", true);
}

void service::stop(std::string_view why, bool by_signal) {
  ++stops_;
  limit_.cancel();
  if (stops_ > 1) {
    if (stops_ == 2) log_.note(wall(), log_level::warning, "stopping", std::string(why) + ": running jobs are stopped now");
    engine_.stop([](const engine::stop_report&) {});
    return;
  }
  const auto now = engine_.statistics();
  const auto running = now.running - now.between_attempts;  // the others end at once
  std::string text = "stopping: " + std::string(why);
  if (running > 0) {
    text += "; " + counted(running, "run") + " may go on for " + print_duration(what_.shutdown_grace) +
            (by_signal ? ", a second signal ends that" : ", a signal ends that");
  }
  log_.note(wall(), log_level::info, "stopping", text);
  engine_.stop([this](engine::stop_report report) {
    report_ = std::move(report);
    hold_ = {};
    if (report_.message.empty())
      log_.note(wall(), log_level::info, "stopped", "stopped");
    else
      log_.note(wall(), log_level::error, "stopped", "stopped, but " + report_.message);
    ended_();
  });
}

}  // namespace looptask::service
