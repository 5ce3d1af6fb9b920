#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "cli/history.hpp"
#include "cli/instant_argument.hpp"
#include "cli/verbs.hpp"
#include "ledger/sqlite_store.hpp"
#include "service/duration_words.hpp"
#include "service/record_words.hpp"
#include "service/records_json.hpp"

namespace looptask::cli {
namespace {

constexpr std::int64_t rows_for_people = 20;

class runs_verb final : public verb {
 public:
  std::string_view name() const override { return "runs"; }
  std::string_view summary() const override { return "show what ran, newest first, from the history"; }

  void declare(option_list& options) override {
    options.argument("JOB", job_, "only this job");
    options.value("--since", "TIME", since_, "nominal time from TIME on: -1h, 2026-03-29, 2026-03-29T01:00:00 (UTC)");
    options.number("-n,--limit", limit_, 0, 1'000'000'000, "at most so many, 0 for all (default: 20 in a table, all in JSON)");
    options.flag("--all", all_, "with the slots that did not run, and why not");
    options.flag("--json", json_, "as one JSON object on stdout");
    options.example("looptask runs", "the newest 20 runs of all jobs");
    options.example("looptask runs report --since -1d --all", "a day of one job, with what was skipped or missed");
    options.example("looptask runs --json", "all runs, for programs");
  }

  int run(invocation& call) override {
    const auto directory = find_data_dir(call.data_dir, call.env);
    if (!directory) return call.fail(exit_code::usage, directory.message());
    ledger::run_query query{.job = job_, .ran_only = !all_};
    if (since_) {
      const auto since = parse_instant_argument(*since_, call.where().clock().wall(), schedule::zone::utc());
      if (!since) return call.fail(exit_code::usage, "--since: " + since.message());
      query.since = since.value();
    }
    try {
      const auto history = open_history(directory.value());
      if (job_) {
        if (const auto complaint = unknown_job(*history, call.where().files()))
          return call.fail(exit_code::not_found, *complaint);
      }
      const bool unfinished = json_ ? write_json(call.io, *history, query) : write_table(call.io, *history, query);
      if (unfinished) call.io.err(words_about_silence(call.where().clock(), *history));
    } catch (const ledger::no_history& why) {
      return call.fail(exit_code::not_running, why.what());
    }
    return exit_code::ok;
  }

 private:
  // A job is known if it has a record of its own, or left runs behind.
  std::optional<std::string> unknown_job(ledger::store& history, file_port& files) const {
    if (!history.runs({.job = job_, .limit = 1, .ran_only = false}).empty()) return std::nullopt;
    std::vector<std::string> names;
    for (const ledger::job_record& each : history.load().jobs) names.push_back(each.name);
    if (std::find(names.begin(), names.end(), *job_) != names.end()) return std::nullopt;
    if (files.exists(*job_))
      return in_quotes(*job_) + " is a file and no job; name a configuration with -c, a history with --data-dir";
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto nearest = nearest_name(*job_, known);
    return "no job " + in_quotes(*job_) + " in this history" +
           (nearest ? "; did you mean " + in_quotes(*nearest) + "?" : std::string());
  }

  // Empty while the service that has these runs gives signs of life: one a second, as long as a run is going.
  static std::string words_about_silence(const clock_port& clock, ledger::store& history) {
    constexpr microseconds long_enough = std::chrono::seconds(10);
    const ledger::snapshot past = history.load();
    if (!past.clock || !past.alive) return {};
    std::string since;
    if (past.clock->boot_id == clock.boot_id()) {
      const instant now = instant(std::chrono::floor<microseconds>(clock.boot())) + past.clock->offset;
      if (now - *past.alive < long_enough) return {};
      since = "for " + service::duration_words(now - *past.alive);
    } else {
      since = "since the machine has booted";
    }
    return "the service has given no sign of life " + since +
           ": if it is not running, what is shown as running or waiting is not, and is judged when it starts again\n";
  }

  // Both: whether there was something unfinished among them.
  bool write_json(console& io, ledger::store& history, ledger::run_query query) const {
    query.limit = limit_ < 0 ? 0 : static_cast<std::size_t>(limit_);
    io.out(service::runs_json_begin);
    bool first = true, unfinished = false;
    history.visit_runs(query, [&](const ledger::run_record& record) {
      unfinished = unfinished || record.phase != ledger::record_phase::closed;
      if (!std::exchange(first, false)) io.out(",");
      return io.out(service::record_json(record));
    });
    io.out(service::runs_json_end);
    return unfinished;
  }

  bool write_table(console& io, ledger::store& history, ledger::run_query query) const {
    const auto most = static_cast<std::size_t>(limit_ < 0 ? rows_for_people : limit_);
    query.limit = most == 0 ? 0 : most + 1;  // one more tells whether there are more
    service::text_table table(service::record_columns(), [&io](std::string_view line) { return io.out(line); });
    std::size_t shown = 0;
    bool more = false, unfinished = false;
    history.visit_runs(query, [&](const ledger::run_record& record) {
      if (most != 0 && shown == most) {
        more = true;
        return false;
      }
      ++shown;
      unfinished = unfinished || record.phase != ledger::record_phase::closed;
      return table.add(service::record_words(record));
    });
    table.finish();
    if (shown == 0) io.err("no runs yet that match\n");
    if (more) io.err(fmt::format("these are the newest {}; -n 0 shows all\n", most));
    return unfinished;
  }

  std::optional<std::string> job_, since_;
  std::int64_t limit_ = -1;
  bool all_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<verb> make_runs_verb() { return std::make_unique<runs_verb>(); }

}  // namespace looptask::cli
