#pragma once
// An engine in a simulated world, over a ledger that outlives it. What it tells becomes lines such as
//   "1000 attempt_started a 1000#1"   "1300 run_ended a 1000 success"   "2000 slot_not_run a 2000 skipped overlap"
// (times in ms since the beginning). Bodies are scripted, or commands on virtual processes.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <looptask/loop.hpp>

#include "engine/engine.hpp"
#include "jobs/command.hpp"
#include "sim/world.hpp"

namespace looptask::engine {

using lines = std::vector<std::string>;

constexpr microseconds ms(std::int64_t count) { return std::chrono::milliseconds(count); }

// Passes on what comes home, to whichever loop is alive.
struct relay final : inbox {
  void post(unique_function<void()> work) override {
    if (to != nullptr) to->post(std::move(work));
  }
  loop* to = nullptr;
};

// A ledger that fails, refuses or takes its time when told to.
class fault_store final : public ledger::store {
 public:
  explicit fault_store(ledger::store& real) : real_(real) {}

  bool failing = false;                    // every batch fails as if the disk were full
  std::optional<std::string> refused_job;  // batches with a run of this job are refused
  std::optional<run_key> refused_run;      // batches with a record of this run are refused
  bool holding = false;                    // batches wait until release()
  bool unreadable = false;                 // past runs cannot be read
  std::vector<ledger::batch> seen;         // all that were submitted
  std::vector<instant> beats;

  ledger::snapshot load() override { return real_.load(); }
  void submit(ledger::batch what, unique_function<void(ledger::commit_error)> done) override;
  void release();
  void forget() { held_.clear(); }
  void alive(instant elapsed) override {
    beats.push_back(elapsed);
    real_.alive(elapsed);
  }
  void visit_runs(const ledger::run_query& what, unique_function<bool(ledger::run_record)> visit) override {
    if (unreadable) throw std::runtime_error("disk I/O error");
    real_.visit_runs(what, std::move(visit));
  }
  ledger::statistics statistics() const override { return real_.statistics(); }

  inbox* home = nullptr;

 private:
  ledger::store& real_;
  struct held {
    ledger::batch what;
    unique_function<void(ledger::commit_error)> done;
  };
  std::deque<held> held_;
};

class house;

// A body whose attempts do as they are told.
class scripted final : public job_body {
 public:
  explicit scripted(house& where) : where_(where) {}

  microseconds takes = ms(0);
  run_result result = run_result::success;
  bool throws = false;       // start() throws
  bool nothing = false;      // start() returns null
  bool ends_inside = false;  // on_end from inside start()
  bool ends_twice = false;
  bool deaf = false;  // ignores stop()
  bool stop_throws = false;
  bool kill_after_throws = false;
  microseconds kill = std::chrono::seconds(10);
  std::optional<microseconds> stopped_with;  // the last kill_after given to stop()
  std::uint32_t started = 0;

  std::unique_ptr<attempt> start(const attempt_context& context, attempt_events& events) override;
  microseconds kill_after() const override;

 private:
  friend class scripted_attempt;
  house& where_;
};

class house final : public listener {
 public:
  explicit house(std::uint64_t seed = 1);
  ~house();

  sim::world world;
  looptask::engine::options options;
  std::unique_ptr<looptask::loop> loop;
  std::unique_ptr<looptask::ledger::store> memory;
  std::unique_ptr<fault_store> store;
  std::unique_ptr<engine> it;
  lines log;
  std::size_t most_attempts_told = 0;  // in the record of one event
  const char* output_told = nullptr;   // where the head of the last attempt's output lies
  bool listener_throws = false;
  unique_function<void(const event&)> observer;  // sees every event before the log does
  std::optional<stop_report> stopped;

  // A job that is added again in each life.
  std::shared_ptr<scripted> job(schedule::job_definition what);
  void body(schedule::job_definition what, unique_function<std::shared_ptr<job_body>()> made_by);
  void command(schedule::job_definition what, std::vector<std::string> argv);
  void drop(const std::string& name) { jobs_.erase(name); }
  void redefine(schedule::job_definition what) { jobs_.at(what.name).first = std::move(what); }

  void up();
  void crash();  // without a word
  void stop() {
    it->stop([this](stop_report r) { stopped = std::move(r); });
  }
  bool run_to(std::int64_t until_ms);  // false: the service crashed on the way
  lines take();                        // the log since the last call
  lines take(const std::string& event);
  instant at(std::int64_t at_ms) const { return sim::default_wall0 + ms(at_ms); }
  std::vector<ledger::run_record> records(bool ran_only = false);

  void on_event(const event& e) override;

 private:
  using body_maker = unique_function<std::shared_ptr<job_body>()>;
  relay relay_;
  std::map<std::string, std::pair<schedule::job_definition, body_maker>> jobs_;
};

schedule::job_definition every(std::string name, std::int64_t interval_ms,
                               schedule::interval_from from = schedule::interval_from::grid, std::int64_t delay_ms = 0);
schedule::job_definition cron(std::string name, std::string_view expression);
schedule::job_definition by_hand(std::string name);

}  // namespace looptask::engine
