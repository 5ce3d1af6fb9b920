#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include <looptask/loop.hpp>

#include "cli/scenario.hpp"
#include "engine/engine.hpp"
#include "jobs/command.hpp"
#include "ledger/ledger.hpp"
#include "schedule/instant_text.hpp"
#include "schedule/series.hpp"
#include "sim/world.hpp"

namespace looptask::cli {
namespace {

// Writes down what the engine tells, on the scenario's own time.
class chronicle final : public engine::listener {
 public:
  explicit chronicle(const scenario& of) : of_(of) {}

  void on_event(const engine::event& e) override {
    switch (e.what) {
      case engine::event_kind::attempt_started:
        return started(e);
      case engine::event_kind::attempt_ended:
        return ended(e);
      case engine::event_kind::run_ended:
        return run_ended(e);
      case engine::event_kind::slot_not_run:
        return dropped(e);
      default:
        return;
    }
  }

  scenario_outcome outcome() && {
    for (auto& [key, run] : runs_) outcome_.runs.push_back(std::move(run));
    std::sort(outcome_.runs.begin(), outcome_.runs.end(),
              [](const auto& a, const auto& b) { return std::pair(a.start, a.nominal) < std::pair(b.start, b.nominal); });
    std::sort(outcome_.dropped.begin(), outcome_.dropped.end(),
              [](const auto& a, const auto& b) { return std::pair(a.at, a.nominal) < std::pair(b.at, b.nominal); });
    return std::move(outcome_);
  }

 private:
  microseconds since_start(instant elapsed) const { return elapsed - of_.wall0; }
  // A record carries wall times, as they were related to the elapsed time when the event was decided.
  microseconds since_start(instant wall, const engine::event& e) const { return since_start(e.elapsed - (e.wall - wall)); }

  void started(const engine::event& e) {
    scenario_outcome::run& run = runs_[e.run->key];
    if (run.attempts.empty()) {
      run.nominal = e.run->key.nominal;
      run.start = since_start(e.elapsed);
    }
    run.attempts.push_back({since_start(e.elapsed), std::nullopt, std::nullopt});
  }

  void ended(const engine::event& e) {
    const auto run = runs_.find(e.run->key);
    if (run == runs_.end()) return;
    scenario_outcome::attempt& attempt = run->second.attempts.back();
    attempt.end = since_start(*e.attempt->ended, e);
    attempt.result = e.attempt->result;
  }

  void run_ended(const engine::event& e) {
    const auto run = runs_.find(e.run->key);
    if (run == runs_.end()) return;
    run->second.end = since_start(*e.run->ended, e);
    run->second.result = e.run->result;
  }

  void dropped(const engine::event& e) {
    instant anchor = of_.wall0;
    if (const auto* const every = std::get_if<schedule::every_trigger>(&of_.job.trigger)) anchor += every->initial_delay;
    std::optional<instant> slot = e.run->key.nominal;
    for (; slot && *slot <= e.run->nominal_last; slot = schedule::next_slot(of_.job.trigger, anchor, *slot)) {
      outcome_.dropped.push_back({*slot, since_start(e.elapsed), e.run->outcome});
    }
  }

  const scenario& of_;
  std::map<run_key, scenario_outcome::run> runs_;
  scenario_outcome outcome_;
};

// The service of a scenario: up, down, and up again over the same ledger.
class stage {
 public:
  explicit stage(const scenario& what)
      : what_(what), world_(1, what.wall0), loop_(world_), ledger_(ledger::make_memory_store(loop_)), chronicle_(what) {
    world_.program("work", [this](const process_spec&) {
      const scenario::work_step& step = what_.work[std::min(attempts_++, what_.work.size() - 1)];
      return sim::program{.takes = step.takes, .exit_code = step.ok ? 0 : 1};
    });
    for (const scenario::event& e : what_.events) plan(e);
    world_.end_at(what_.until);
  }

  scenario_outcome run() && {
    up();
    try {
      const loop_hold while_down = loop_.hold();
      loop_.run();
    } catch (const sim::end_of_time&) {
    }
    engine_.reset();
    return std::move(chronicle_).outcome();
  }

 private:
  void plan(const scenario::event& e) {
    switch (e.what) {
      case scenario::event::kind::wall_jump:
        return world_.wall_jump(e.at, e.jump);
      case scenario::event::kind::stall:
        return world_.stall(e.at, e.until);
      case scenario::event::kind::down:
        world_.call_at(e.at, [this] { engine_->stop({}); });
        world_.call_at(e.until, [this] { up(); });
        return;
    }
  }

  // Not inside the world's own delivery of events.
  void up() {
    loop_.call_soon([this] {
      engine_.reset();
      engine_ =
          std::make_unique<engine::engine>(loop_, *ledger_, engine::options{.shutdown_grace = microseconds(0)}, chronicle_);
      jobs::command_options work;
      work.argv = {"work"};
      work.workdir = work.home;
      engine_->add(what_.job, jobs::make_command(loop_, std::move(work)));
      engine_->start();
    });
  }

  const scenario& what_;
  sim::world world_;
  loop loop_;
  std::unique_ptr<ledger::store> ledger_;
  chronicle chronicle_;
  std::unique_ptr<engine::engine> engine_;
  std::size_t attempts_ = 0;
};

nlohmann::json milliseconds_of(const std::optional<microseconds>& time) {
  if (!time) return nullptr;
  return std::chrono::floor<std::chrono::milliseconds>(*time).count();
}

std::string_view result_name(const std::optional<run_result>& result) {
  if (!result) return "running";
  switch (*result) {
    case run_result::success:
      return "ok";
    case run_result::timeout:
      return "timeout";
    case run_result::cancelled:
      return "cancelled";
    case run_result::killed:
    case run_result::interrupted:
    case run_result::lost:
      return "killed";
    case run_result::failed:
    case run_result::start_failed:
      break;
  }
  return "fail";
}

std::string_view drop_name(slot_outcome outcome) {
  if (outcome == slot_outcome::skipped) return "overlap";
  return outcome == slot_outcome::coalesced ? "coalesced" : "misfire";
}

}  // namespace

scenario_outcome run_scenario(const scenario& what) { return stage(what).run(); }

std::string to_json(const scenario& what, const scenario_outcome& outcome) {
  const bool by_wall = schedule::on_wall_clock(what.job.trigger);
  const auto due = [&](instant nominal) -> nlohmann::json {
    if (by_wall) return schedule::instant_text(nominal, schedule::fraction::milliseconds_if_any);
    return milliseconds_of(nominal - what.wall0);
  };
  nlohmann::ordered_json line;
  line["id"] = what.id;
  line["runs"] = nlohmann::json::array();
  line["dropped"] = nlohmann::json::array();
  for (const scenario_outcome::run& run : outcome.runs) {
    nlohmann::ordered_json each;
    each["due"] = due(run.nominal);
    each["start"] = milliseconds_of(run.start);
    each["end"] = milliseconds_of(run.end);
    each["outcome"] = result_name(run.result);
    each["attempts"] = nlohmann::json::array();
    for (const scenario_outcome::attempt& a : run.attempts) {
      each["attempts"].push_back({milliseconds_of(a.start), milliseconds_of(a.end), result_name(a.result)});
    }
    line["runs"].push_back(std::move(each));
  }
  for (const scenario_outcome::drop& drop : outcome.dropped) {
    nlohmann::ordered_json each;
    each["due"] = due(drop.nominal);
    each["at"] = milliseconds_of(drop.at);
    each["why"] = drop_name(drop.outcome);
    line["dropped"].push_back(std::move(each));
  }
  return line.dump();
}

}  // namespace looptask::cli
