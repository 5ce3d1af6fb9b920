#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "cli/history.hpp"
#include "cli/instant_argument.hpp"
#include "cli/next_batch.hpp"
#include "cli/next_print.hpp"
#include "cli/verbs.hpp"
#include "ledger/sqlite_store.hpp"
#include "service/configuration.hpp"
#include "service/installed_zones.hpp"

namespace looptask::cli {
namespace {

class next_verb final : public verb {
 public:
  std::string_view name() const override { return "next"; }
  std::string_view summary() const override { return "show when jobs will run"; }

  void declare(option_list& options) override {
    options.arguments("JOB", jobs_, "jobs of the configuration file (default: all)");
    options.value("--expr", "EXPR", expression_, "a cron expression instead of jobs");
    options.value("--tz", "ZONE", zone_, "time zone of EXPR (default: UTC)");
    options.number("-n", count_, 1, batch_answerer::most_fires, "fire times for each job (default: 5)");
    options.value("--from", "TIME", from_, "ask as of TIME: now, +2d, -1h, 2026-03-29, 2026-03-29T01:00:00Z (default: now)");
    options.flag("--batch", batch_, "answer JSON lines on stdin: {\"id\",\"expr\",\"tz\",\"start\",\"n\"}");
    options.flag("--json", json_, "as one JSON object on stdout");
    options.example("looptask next", "the next five fire times of every job");
    options.example("looptask next report -n 1 --json", "the next one of one job, for programs");
    options.example("looptask next --expr '30 2 * * *' --tz Europe/Berlin --from 2026-03-28", "what the clock change does");
    options.example("looptask next --batch < lines.jsonl", "one JSON line of answer for each line");
  }

  int run(invocation& call) override {
    if (batch_) return run_batch(call);
    if (zone_ && !expression_) return call.fail(exit_code::usage, "--tz goes with --expr; a job has its own timezone");
    const instant now = call.where().clock().wall();
    return expression_ ? run_expression(call, now) : run_jobs(call, now);
  }

 private:
  int run_batch(invocation& call) {
    const std::pair<bool, const char*> given[] = {{!jobs_.empty(), "JOB"},
                                                  {expression_.has_value(), "--expr"},
                                                  {zone_.has_value(), "--tz"},
                                                  {from_.has_value(), "--from"},
                                                  {count_ >= 0, "-n"},
                                                  {json_, "--json"},
                                                  {call.config.has_value(), "-c"},
                                                  {call.data_dir.has_value(), "--data-dir"}};
    for (const auto& [there, name] : given) {
      if (there)
        return call.fail(exit_code::usage, fmt::format("--batch takes all from its lines, as JSON; leave out {}", name));
    }
    batch_answerer answers(service::installed_zones(call.where().files()));
    for (std::string line; call.io.read_line(line);) {
      // Each answer at once: whoever writes the lines may wait for it. Nobody reads any more: that is the end.
      if (!call.io.out(answers.answer(line) + '\n') || !call.io.flush()) break;
    }
    return exit_code::ok;
  }

  int run_expression(invocation& call, instant now) {
    if (!jobs_.empty()) return call.fail(exit_code::usage, "either jobs or --expr, not both");
    if (call.config) return call.fail(exit_code::usage, "--expr asks no configuration; leave out -c");
    auto expression = schedule::cron_expression::parse(*expression_);
    if (!expression) return call.fail(exit_code::usage, "--expr: " + expression.message());
    auto zone = schedule::zone::load(zone_.value_or("UTC"));
    // The list of names is read only when one is wrong.
    if (!zone) zone = schedule::zone::load(*zone_, service::installed_zones(call.where().files()));
    if (!zone) return call.fail(exit_code::usage, "--tz: " + zone.message());
    const schedule::zone where = zone.value();
    return answer(call, {{"", schedule::cron_trigger{std::move(expression).value(), where}, where, true}}, asked(now, where));
  }

  int run_jobs(invocation& call, instant now) {
    const auto file = find_config(call.config, call.env, call.where().files());
    if (!file) {
      for (const auto& name : jobs_)
        if (call.where().files().exists(name)) return call.fail(exit_code::bad_configuration, no_job_but_a_file(name));
      return call.fail(exit_code::bad_configuration, file.message());
    }
    const auto loaded = service::load_configuration(file.value(), call.where());
    if (!loaded.value) {
      for (const auto& p : loaded.errors) call.io.say(p.to_string());
      return call.fail(exit_code::bad_configuration, file.value() + " cannot be used; see looptask check");
    }
    std::vector<next_item> items;
    for (const auto& name : jobs_) {
      if (const int code = require(call, *loaded.value, name); code != exit_code::ok) return code;
    }
    for (const auto& job : loaded.value->jobs) {
      const auto& d = job.definition;
      if (!jobs_.empty() && std::find(jobs_.begin(), jobs_.end(), d.name) == jobs_.end()) continue;
      items.push_back({d.name, d.trigger, job.zone, d.enabled});
    }
    const auto from = asked(now, loaded.value->zone);
    if (from) add_pasts(call, items, *loaded.value, from.value());
    return answer(call, std::move(items), from);
  }

  // Without a history, or with one that cannot be read, jobs are shown as if the service had never run.
  static void add_pasts(invocation& call, std::vector<next_item>& items, const service::configuration& what, instant from) {
    const auto directory = find_data_dir(call.data_dir, call.env);
    if (!directory) return;
    std::vector<schedule::job_definition> definitions;
    for (const auto& job : what.jobs) definitions.push_back(job.definition);
    try {
      const auto pasts = past_of_jobs(*open_history(directory.value()), definitions, call.where().clock(), from);
      for (auto& item : items) {
        if (const auto past = pasts.find(item.name); past != pasts.end()) item.past = past->second;
      }
    } catch (const ledger::no_history&) {
    } catch (const std::runtime_error& why) {
      call.io.say(fmt::format("looptask next: warning: {}; intervals are shown as if nothing had run", why.what()));
    }
  }

  static std::string no_job_but_a_file(const std::string& name) {
    return in_quotes(name) + " is a file and no job; name a configuration with -c";
  }

  static int require(invocation& call, const service::configuration& from, const std::string& wanted) {
    std::vector<std::string_view> names;
    for (const auto& job : from.jobs) names.push_back(job.definition.name);
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return exit_code::ok;
    if (call.where().files().exists(wanted)) return call.fail(exit_code::not_found, no_job_but_a_file(wanted));
    const auto near = nearest_name(wanted, names);
    return call.fail(exit_code::not_found, fmt::format("no job {} in {}{}", in_quotes(wanted), from.file,
                                                       near ? fmt::format("; did you mean {}?", *near) : ""));
  }

  result<instant> asked(instant now, const schedule::zone& zone) const {
    return from_ ? parse_instant_argument(*from_, now, zone) : result<instant>(now);
  }

  int answer(invocation& call, std::vector<next_item> items, const result<instant>& from) {
    if (!from) return call.fail(exit_code::usage, "--from: " + from.message());
    std::vector<next_answer> answers;
    for (auto& item : items) {
      coming found = coming_fires(item, from.value(), count_ < 0 ? 5 : count_);
      answers.push_back({std::move(item), std::move(found)});
    }
    call.io.out(json_ ? next_as_json(answers, from.value()) : next_as_text(answers, from.value()));
    if (json_) return exit_code::ok;
    for (const auto& a : answers) {
      for (const auto w : a.found.warnings) {
        call.io.say(fmt::format("looptask next: warning: {}{} [{}]", a.item.name.empty() ? "" : a.item.name + ": ",
                                schedule::explanation_of(w), schedule::name_of(w)));
      }
    }
    return exit_code::ok;
  }

  std::vector<std::string> jobs_;
  std::optional<std::string> expression_, zone_, from_;
  std::int64_t count_ = -1;  // not given
  bool batch_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<verb> make_next_verb() { return std::make_unique<next_verb>(); }

}  // namespace looptask::cli
