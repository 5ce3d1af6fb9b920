#pragma once
// The service: the jobs of a configuration, run by an engine on a loop, with a live log, stopped by signals, by a time limit or
// when all has been run once.
//
// Owner: the loop's thread. While it runs it watches SIGINT, SIGTERM and SIGHUP of the process. start() once; stop() any number
// of times: the first begins the grace, the second ends it. When everything has ended and is recorded, `ended` is called.
// Failure: start() throws what the ledger throws; trouble later is logged and waited out by the engine.
//
//   service::service s(loop, *store, configuration, options, log);
//   s.start([&] { loop.stop(); });
//   loop.run();
//   if (!s.report().message.empty()) ...  // something had to be left behind
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/loop.hpp>
#include <looptask/timer.hpp>

#include "engine/engine.hpp"
#include "ledger/ledger.hpp"
#include "service/configuration.hpp"
#include "service/event_log.hpp"
#include "service/summary.hpp"

namespace looptask::service {

struct run_options {
  std::optional<microseconds> lasting;   // stop by itself after this
  bool once = false;                     // run every enabled job that has a schedule now, one time, and stop
  bool trust_clock = false;              // the wall clock is right at the start, although it is behind the newest record
  std::string data_directory;            // for the log only
  std::vector<std::string> environment;  // the service's own, "NAME=value"
};

class service final : private engine::listener {
 public:
  // `home`, `history` and `log` outlive the service.
  service(loop& home, ledger::store& history, configuration what, run_options how, event_log& log);
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  void start(unique_function<void()> ended);
  void stop(std::string_view why);

  // After `ended` was called.
  const engine::stop_report& report() const noexcept { return report_; }
  instant started() const noexcept { return started_; }  // wall clock
  const summary& totals() const noexcept { return totals_; }
  engine::engine& jobs() noexcept { return engine_; }

 private:
  void on_event(const engine::event& what) override;
  void add_jobs();
  void say_started();
  void run_all_once();
  void one_done(std::string_view job, std::string_view run_id);
  void log_event(const engine::event& what);
  void on_signal(int number);
  void stop(std::string_view why, bool by_signal);
  void on_limit();
  instant wall();

  loop& loop_;
  const configuration what_;
  const run_options how_;
  event_log& log_;
  summary totals_;
  engine::engine engine_;
  loop_hold hold_;  // signals come from outside
  unique_function<void()> ended_;
  engine::stop_report report_;
  instant started_{};
  std::map<std::string, std::string, std::less<>> once_;  // run ids of --once that have not ended, by job
  int stops_ = 0;
  bool watching_ = false;
  timer_of<&service::on_limit> limit_;
};

}  // namespace looptask::service
