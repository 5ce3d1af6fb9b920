#include "service/summary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "service/duration_words.hpp"
#include "service/text_table.hpp"

namespace looptask::service {
namespace {

using object_type = nlohmann::ordered_json;

void note_run(summary::numbers& of, const ledger::run_record& run) {
  if (run.result == run_result::interrupted) {
    ++of.interrupted;
    return;
  }
  ++of.runs;
  if (run.result) ++of.results[static_cast<std::size_t>(*run.result)];
  if (run.lateness) of.lateness.add(*run.lateness);
  if (!run.attempts.empty()) of.retries += run.attempts.back().n - 1;
}

std::string not_run_in_words(const summary::numbers& of) {
  std::string text;
  for (const auto& [why, slots] : of.not_run) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", slots, to_string(why.first));
    if (why.second != cause::none) text += fmt::format(" ({})", to_string(why.second));
  }
  return text;
}

std::vector<std::string> row(std::string name, const summary::numbers& of) {
  return {std::move(name),
          std::to_string(of.runs),
          std::to_string(of.failures()),
          std::to_string(of.retries),
          std::to_string(of.timeouts),
          duration_words(of.lateness.quantile(0.5)),
          duration_words(of.lateness.quantile(0.99)),
          not_run_in_words(of)};
}

object_type seconds(const std::optional<microseconds>& value) {
  return value ? object_type(in_seconds(*value)) : object_type();
}

object_type object(const summary::numbers& of) {
  object_type results = object_type::object();
  for (std::size_t i = 0; i < of.results.size(); ++i) {
    if (of.results[i] != 0) results[std::string(to_string(static_cast<run_result>(i)))] = of.results[i];
  }
  object_type not_run = object_type::array();
  for (const auto& [why, slots] : of.not_run) {
    not_run.push_back({{"outcome", to_string(why.first)},
                       {"cause", why.second == cause::none ? object_type() : object_type(to_string(why.second))},
                       {"slots", slots}});
  }
  return {{"runs", of.runs},
          {"failures", of.failures()},
          {"results", std::move(results)},
          {"interrupted", of.interrupted},
          {"retries", of.retries},
          {"timeouts", of.timeouts},
          {"not_run", std::move(not_run)},
          {"lateness_p50", seconds(of.lateness.quantile(0.5))},
          {"lateness_p99", seconds(of.lateness.quantile(0.99))}};
}

}  // namespace

void summary::note(const engine::event& what) {
  using engine::event_kind;
  if (what.job.empty()) return;
  if (what.what == event_kind::job_removed) return forget_if_idle(what.job);
  auto place = jobs_.find(what.job);
  if (place == jobs_.end()) place = jobs_.emplace(what.job, numbers{}).first;
  numbers& of = place->second;
  if (what.run == nullptr) return;
  if (what.what == event_kind::attempt_ended && what.attempt->result == run_result::timeout) ++of.timeouts;
  if (what.what == event_kind::run_ended) note_run(of, *what.run);
  if (what.what == event_kind::slot_not_run) of.not_run[{what.run->outcome, what.run->why}] += what.run->slots;
}

// A job that left the configuration stands in the summary only for what it did.
void summary::forget_if_idle(std::string_view job) {
  const auto place = jobs_.find(job);
  if (place == jobs_.end()) return;
  const numbers& of = place->second;
  if (of.runs == 0 && of.interrupted == 0 && of.not_run.empty()) jobs_.erase(place);
}

void summary::numbers::add(const numbers& other) {
  runs += other.runs;
  for (std::size_t i = 0; i < results.size(); ++i) results[i] += other.results[i];
  interrupted += other.interrupted;
  retries += other.retries;
  timeouts += other.timeouts;
  for (const auto& [why, slots] : other.not_run) not_run[why] += slots;
  lateness.add(other.lateness);
}

summary::numbers summary::total() const {
  numbers all;
  for (const auto& [name, of] : jobs_) all.add(of);
  return all;
}

std::string summary::text() const {
  constexpr auto right = text_table::right;
  std::string out;
  text_table table({{"JOB"},
                    {"RUNS", right},
                    {"FAILURES", right},
                    {"RETRIES", right},
                    {"TIMEOUTS", right},
                    {"LATE p50", right},
                    {"p99", right},
                    {"SLOTS THAT DID NOT RUN"}},
                   [&out](std::string_view line) {
                     out += line;
                     return true;
                   });
  for (const auto& [name, of] : jobs_) table.add(row(name, of));
  const numbers all = total();
  table.add(row("total", all));
  table.finish();
  if (all.interrupted != 0)
    out += fmt::format("{} of an earlier life {} interrupted\n",
                       all.interrupted == 1 ? "1 run" : fmt::format("{} runs", all.interrupted),
                       all.interrupted == 1 ? "was" : "were");
  return out;
}

std::string summary::json() const {
  object_type document{{"schema_version", 1}, {"jobs", object_type::array()}, {"total", object(total())}};
  for (const auto& [name, of] : jobs_) {
    object_type job{{"job", name}};
    job.update(object(of));
    document["jobs"].push_back(std::move(job));
  }
  return document.dump(-1, ' ', false, object_type::error_handler_t::replace) + "\n";
}

}  // namespace looptask::service
