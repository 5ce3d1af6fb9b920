#include "engine/house.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "schedule/series.hpp"

namespace looptask::engine {

void fault_store::submit(ledger::batch what, unique_function<void(ledger::commit_error)> done) {
  seen.push_back(what);
  const auto fail = [&](ledger::commit_error why) {
    home->post([done = std::move(done), why = std::move(why)]() mutable { done(std::move(why)); });
  };
  if (failing) return fail({.failed = true, .message = "disk full", .refused = false});
  const bool refused = std::any_of(what.runs.begin(), what.runs.end(),
                                   [&](const auto& run) { return run.key.job == refused_job || run.key == refused_run; });
  if (refused) return fail({.failed = true, .message = "closed record", .refused = true});
  if (holding) {
    held_.push_back({std::move(what), std::move(done)});
    return;
  }
  real_.submit(std::move(what), std::move(done));
}

void fault_store::release() {
  holding = false;
  for (held& each : std::exchange(held_, {})) real_.submit(std::move(each.what), std::move(each.done));
}

class scripted_attempt final : public attempt {
 public:
  scripted_attempt(std::shared_ptr<scripted> of, attempt_events& events) : of_(std::move(of)), events_(events) {
    if (of_->takes < microseconds::max()) {
      timer_ = of_->where_.loop->call_later(of_->takes, [this] { end(of_->result); });
    }
  }
  ~scripted_attempt() override { timer_.cancel(); }

  void stop(microseconds kill_after) override {
    of_->stopped_with = kill_after;
    if (of_->stop_throws) throw std::runtime_error("stop went wrong");
    if (of_->deaf) return;
    timer_.cancel();
    timer_ = of_->where_.loop->call_later(duration(0), [this] { end(run_result::failed); });
  }

 private:
  void end(run_result result) {
    attempt_end how;
    how.result = result;
    if (result != run_result::success) how.error = "it went wrong";
    how.output_head = "output";
    attempt_events& events = events_;
    const bool again = of_->ends_twice;
    events.on_end(how);
    if (again) events.on_end(how);
  }

  std::shared_ptr<scripted> of_;
  attempt_events& events_;
  timer_handle timer_;
};

std::unique_ptr<attempt> scripted::start(const attempt_context&, attempt_events& events) {
  ++started;
  if (throws) throw std::runtime_error("cannot\nstart");
  if (nothing) return nullptr;
  auto self = std::shared_ptr<scripted>(this, [](scripted*) {});  // the house keeps it
  if (ends_inside) {
    attempt_end how;
    how.result = result;
    events.on_end(how);
  }
  return std::make_unique<scripted_attempt>(std::move(self), events);
}

microseconds scripted::kill_after() const {
  if (kill_after_throws) throw std::runtime_error("no idea");
  return kill;
}

house::house(std::uint64_t seed)
    : world(seed), memory(ledger::make_memory_store(relay_)), store(std::make_unique<fault_store>(*memory)) {
  store->home = &relay_;
}

house::~house() { crash(); }

std::shared_ptr<scripted> house::job(schedule::job_definition what) {
  auto body = std::make_shared<scripted>(*this);
  std::string name = what.name;
  jobs_.insert_or_assign(std::move(name), std::pair(std::move(what), body_maker([body] { return body; })));
  return body;
}

void house::body(schedule::job_definition what, unique_function<std::shared_ptr<job_body>()> made_by) {
  std::string name = what.name;
  jobs_.insert_or_assign(std::move(name), std::pair(std::move(what), std::move(made_by)));
}

void house::command(schedule::job_definition what, std::vector<std::string> argv) {
  std::string name = what.name;
  jobs_.insert_or_assign(std::move(name), std::pair(std::move(what), body_maker([this, argv] {
                                                      jobs::command_options o;
                                                      o.argv = argv;
                                                      o.workdir = o.home;
                                                      return std::shared_ptr<job_body>(jobs::make_command(*loop, std::move(o)));
                                                    })));
}

void house::up() {
  crash();
  loop = std::make_unique<looptask::loop>(world);
  relay_.to = loop.get();
  it = std::make_unique<engine>(*loop, *store, options, *this);
  for (auto& [name, each] : jobs_) it->add(each.first, each.second());
  it->start();
}

void house::crash() {
  it.reset();
  relay_.to = nullptr;
  store->forget();
  loop.reset();
}

bool house::run_to(std::int64_t until_ms) {
  world.call_at(ms(until_ms), [this] {
    if (loop != nullptr) loop->call_idle([this] { loop->stop(); });
  });
  try {
    const loop_hold hold = loop->hold();
    loop->run();
  } catch (const sim::crash&) {
    crash();
    return false;
  }
  return true;
}

lines house::take() { return std::exchange(log, {}); }

lines house::take(const std::string& event) {
  lines found = take();
  std::erase_if(found, [&](const std::string& line) { return line.find(" " + event + " ") == std::string::npos; });
  return found;
}

std::vector<ledger::run_record> house::records(bool ran_only) {
  ledger::run_query all;
  all.ran_only = ran_only;
  all.with_output = true;
  return memory->runs(all);
}

void house::on_event(const event& e) {
  if (observer) observer(e);
  const auto since = [](instant when) {
    return std::to_string(std::chrono::floor<std::chrono::milliseconds>(when - sim::default_wall0).count());
  };
  std::string line = since(e.elapsed) + " " + std::string(to_string(e.what)) + " " + std::string(e.job);
  if (e.run != nullptr) {
    most_attempts_told = std::max(most_attempts_told, e.run->attempts.size());
    line += (e.run->key.kind == run_kind::manual ? " manual " : " ") + since(e.run->key.nominal);
    if (e.run->slots > 1) line += ".." + since(e.run->nominal_last);
  }
  if (e.attempt != nullptr) line += "#" + std::to_string(e.attempt->n);
  switch (e.what) {
    case event_kind::attempt_ended:
      output_told = e.attempt->output_head.view().data();
      line += " " + std::string(to_string(*e.attempt->result));
      break;
    case event_kind::run_ended:
      line += " " + std::string(to_string(*e.run->result));
      if (e.run->why != cause::none) line += " " + std::string(to_string(e.run->why));
      break;
    case event_kind::slot_not_run:
      line += " " + std::string(to_string(e.run->outcome)) + " " + std::string(to_string(e.run->why));
      break;
    case event_kind::slot_waiting:
      line += " " + std::string(to_string(e.run->why));
      break;
    case event_kind::retry_planned:
      line += " " + since(e.at);
      break;
    default:
      break;
  }
  log.push_back(std::move(line));
  if (listener_throws) throw std::runtime_error("the listener fails");
}

schedule::job_definition every(std::string name, std::int64_t interval_ms, schedule::interval_from from,
                               std::int64_t delay_ms) {
  schedule::job_definition d;
  d.name = std::move(name);
  d.trigger = schedule::every_trigger{ms(interval_ms), from, ms(delay_ms)};
  d.retry.jitter = 0;
  return d;
}

schedule::job_definition cron(std::string name, std::string_view expression) {
  schedule::job_definition d = every(std::move(name), 1);
  d.trigger = schedule::trigger_of(schedule::cron_expression::parse(expression).value(), schedule::zone::utc());
  return d;
}

schedule::job_definition by_hand(std::string name) {
  schedule::job_definition d = every(std::move(name), 1);
  d.trigger = std::monostate{};
  return d;
}

}  // namespace looptask::engine
