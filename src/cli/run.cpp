#include <looptask/loop.hpp>

#include "cli/live_log.hpp"
#include "cli/verbs.hpp"
#include "ledger/sqlite_store.hpp"
#include "service/configuration.hpp"
#include "service/data_directory.hpp"
#include "service/duration.hpp"
#include "service/service.hpp"

namespace looptask::cli {
namespace {

class run_verb final : public verb {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override { return "run the jobs of a configuration in the foreground"; }

  void declare(option_list& options) override {
    options.argument("FILE", file_, "configuration file");
    options.value("--for", "DUR", lasting_, "stop after this time, as in 90s or 1h30m");
    options.flag("--once", once_, "run every job that has a schedule once, now, and stop");
    options.flag("--trust-clock", trust_clock_, "the wall clock is right, although the history has later records");
    options.flag("--json", json_, "the summary at the end as one JSON object");
    options.example("looptask run jobs.toml", "until SIGINT (Ctrl-C) or SIGTERM; a second one stops running jobs at once");
    options.example("looptask run jobs.toml --for 90s", "and then stop");
    options.example("looptask run jobs.toml --once --data-dir /tmp/try", "try all jobs, with a history of their own");
    options.example("looptask run 2> log.jsonl", "the log as JSON lines; on a terminal it is text");
  }

  int run(invocation& call) override {
    service::run_options how;
    how.once = once_;
    how.trust_clock = trust_clock_;
    how.environment = call.env.all();
    if (lasting_) {
      const auto lasting = service::parse_duration(*lasting_);
      if (!lasting) return call.fail(exit_code::usage, "--for: " + lasting.message());
      how.lasting = lasting.value();
    }
    file_port& files = call.where().files();
    const auto typed = call.typed_config(file_);
    if (!typed) return call.fail(exit_code::usage, typed.message());
    const auto file = find_config(typed.value(), call.env, files);
    if (!file) return call.fail(exit_code::bad_configuration, file.message());
    auto loaded = service::load_configuration(file.value(), call.where());
    for (const auto& p : loaded.errors) call.io.say(p.to_string());
    if (!loaded.value) return exit_code::bad_configuration;
    const auto directory = find_data_dir(call.data_dir, call.env);
    if (!directory) return call.fail(exit_code::usage, directory.message());
    try {
      const service::data_directory data(files, directory.value());
      how.data_directory = data.path();
      return serve(call, std::move(loaded), how);
    } catch (const service::directory_in_use& e) {
      return call.fail(exit_code::refused, e.what());
    }
  }

 private:
  int serve(invocation& call, service::loaded_configuration loaded, const service::run_options& how) {
    const auto form = call.io.err_is_terminal() ? service::log_form::text : service::log_form::json;
    loop home(call.where());
    live_log log(call.io, form);
    const outcome ended = live(call, home, std::move(loaded), how, log.sink(), form);
    log.finish(home);  // the log is out before the summary
    call.io.out(json_ ? ended.totals.json() : ended.totals.text());
    if (ended.message.empty()) return exit_code::ok;
    return call.fail(exit_code::internal, ended.message);
  }

  struct outcome {
    service::summary totals;
    std::string message;  // what had to be left behind
  };

  // The service's life. After it signals are nobody's any more: they end the process, whatever its readers do.
  static outcome live(invocation& call, loop& home, service::loaded_configuration loaded, const service::run_options& how,
                      service::log_sink& sink, service::log_form form) {
    clock_port& clock = call.where().clock();
    const auto history = ledger::open_sqlite_store(how.data_directory, loaded.value->durability, home);
    service::event_log log(sink, form, loaded.value->zone);
    for (const auto& p : loaded.warnings)
      log.note(clock.wall(), service::log_level::warning, "configuration", p.to_string(), {{"class", p.warning_class}});
    service::service service(home, *history, std::move(*loaded.value), how, log);
    service.start([&home] { home.stop(); });
    home.run();
    return {service.totals(), service.report().message};
  }

  std::optional<std::string> file_, lasting_;
  bool once_ = false, trust_clock_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<verb> make_run_verb() { return std::make_unique<run_verb>(); }

}  // namespace looptask::cli
