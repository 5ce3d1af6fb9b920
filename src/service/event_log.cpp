#include "service/event_log.hpp"

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "schedule/instant_text.hpp"
#include "service/duration_words.hpp"
#include "service/wall_text.hpp"

namespace looptask::service {
namespace {

using engine::event_kind;
using json = nlohmann::ordered_json;

constexpr std::size_t text_job_width = 16;

std::string utc(instant when) { return schedule::instant_text(when, schedule::fraction::milliseconds); }

log_level level_of(const engine::event& what) {
  switch (what.what) {
    case event_kind::run_ended:
      return what.run->result == run_result::success ? log_level::info : log_level::warning;
    case event_kind::attempt_stopping:
    case event_kind::retry_planned:
    case event_kind::slot_not_run:
    case event_kind::clock_step:
    case event_kind::loop_stalled:
    case event_kind::leftovers_killed:
      return log_level::warning;
    case event_kind::clock_implausible:
    case event_kind::leftovers_alive:
    case event_kind::ledger_trouble:
    case event_kind::record_refused:
    case event_kind::body_misbehaved:
      return log_level::error;
    default:
      return log_level::info;
  }
}

std::string_view name_of(log_level level) {
  return level == log_level::info ? "info" : level == log_level::warning ? "warning" : "error";
}

// The last line that is not empty, without control characters at its end.
std::string last_line(const ledger::attempt_record& attempt) {
  std::string_view text = attempt.output_tail.empty() ? attempt.output_head : attempt.output_tail;
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const auto begin = text.find_last_of('\n');
  return std::string(begin == std::string_view::npos ? text : text.substr(begin + 1));
}

void add_attempt(json& line, const ledger::attempt_record& a) {
  line["attempt"] = a.n;
  if (a.process) line["pid"] = a.process->pid;
  if (a.result) line["result"] = to_string(*a.result);
  if (a.exit_code) line["exit_code"] = *a.exit_code;
  if (a.signal) line["signal"] = *a.signal;
  if (a.ended) {
    line["duration"] = in_seconds(*a.ended - a.started);
    line["cpu"] = in_seconds(a.cpu);
    if (a.max_rss > 0) line["max_rss"] = a.max_rss;
  }
}

void add_run(json& line, const ledger::run_record& r, event_kind what) {
  if (!r.run_id.empty()) line["run_id"] = r.run_id;
  line["kind"] = to_string(r.key.kind);
  line["nominal"] = utc(r.key.nominal);
  line["due"] = utc(r.due);
  if (r.slots > 1) {
    line["slots"] = r.slots;
    line["nominal_last"] = utc(r.nominal_last);
  }
  if (r.lateness) line["lateness"] = in_seconds(*r.lateness);
  if (what == event_kind::run_ended || what == event_kind::slot_not_run) {
    line["outcome"] = to_string(r.outcome);
    if (r.result) line["result"] = to_string(*r.result);
    if (r.started && r.ended) line["duration"] = in_seconds(*r.ended - *r.started);
    if (!r.attempts.empty()) line["attempts"] = r.attempts.back().n;
  }
  if (r.why != cause::none) line["cause"] = to_string(r.why);
  if (!r.detail.empty()) line["detail"] = r.detail;
}

std::string reason(const ledger::run_record& r) {
  std::string why(to_string(r.why));
  if (r.detail.empty()) return why;
  return r.why == cause::coalesced ? r.detail : why + ": " + r.detail;  // the outcome has the same name
}

}  // namespace

event_log::event_log(log_sink& sink, log_form form, schedule::zone zone) : sink_(sink), form_(form), zone_(std::move(zone)) {}

std::string event_log::time_text(instant when) const {
  return form_ == log_form::text ? wall_text(when, zone_, ' ', true) : utc(when);
}

std::string event_log::slots_in_words(const ledger::run_record& r) const {
  if (r.slots == 1) return "slot of " + time_text(r.key.nominal);
  return std::to_string(r.slots) + " slots from " + time_text(r.key.nominal) + " to " + time_text(r.nominal_last);
}

std::string event_log::text_of(const engine::event& e) const {
  const auto* r = e.run;
  const auto* a = e.attempt;
  switch (e.what) {
    case event_kind::attempt_started: {
      std::string text = a->n == 1 ? "started" : "attempt " + std::to_string(a->n) + " started";
      if (a->n == 1 && r->key.kind != run_kind::schedule) text += " (" + std::string(to_string(r->key.kind)) + ")";
      if (a->n == 1 && r->lateness && *r->lateness >= std::chrono::seconds(1))
        text += ", " + duration_words(*r->lateness) + " late";
      return text;
    }
    case event_kind::attempt_stopping:
      return "stopping: " + std::string(e.text);
    case event_kind::attempt_ended:
      return {};  // what follows says it: run_ended or retry_planned
    case event_kind::retry_planned:
      return "attempt " + std::to_string(a->n) + (a->result == run_result::timeout ? " timed out: " : " failed: ") +
             std::string(e.error) + "; next in " + duration_words(std::max(e.at - e.elapsed, microseconds(0)));
    case event_kind::run_ended: {
      std::string text = r->result ? std::string(to_string(*r->result)) : "ended";
      if (r->started && r->ended) text += " in " + duration_words(*r->ended - *r->started);
      if (!r->attempts.empty() && r->attempts.back().n > 1) text += ", " + std::to_string(r->attempts.back().n) + " attempts";
      if (!e.error.empty()) text += ": " + std::string(e.error);
      if (const auto words = last_words_.find(r->run_id); words != last_words_.end())
        text += "; it said " + in_quotes(words->second);
      return text;
    }
    case event_kind::slot_waiting:
      return slots_in_words(*r) + " waits: " + reason(*r);
    case event_kind::slot_not_run:
      return slots_in_words(*r) + " " + std::string(to_string(r->outcome)) + ": " + reason(*r);
    default: {
      std::string text(to_string(e.what));
      for (char& c : text)
        if (c == '_') c = ' ';
      if (!e.text.empty()) text += ": " + std::string(e.text);
      if (!e.error.empty()) text += ": " + std::string(e.error);
      return text;
    }
  }
}

void event_log::write_text(instant wall, log_level level, std::string_view job, std::string_view text) {
  std::string line = time_text(wall) + "  ";
  line += job;
  if (job.size() < text_job_width) line.append(text_job_width - job.size(), ' ');
  line += "  ";
  if (level == log_level::error) line += "ERROR ";
  line += printable(text);
  line += '\n';
  sink_.write(wall, line);
}

void event_log::write_json(const engine::event& e, log_level level) {
  json line{{"ts", utc(e.wall)}, {"level", name_of(level)}, {"event", to_string(e.what)}};
  if (!e.job.empty()) line["job"] = e.job;
  if (e.run != nullptr) add_run(line, *e.run, e.what);
  if (e.attempt != nullptr) add_attempt(line, *e.attempt);
  if (e.what == event_kind::retry_planned) line["delay"] = in_seconds(std::max(e.at - e.elapsed, microseconds(0)));
  if (!e.error.empty()) line["error"] = e.error;
  if (!e.text.empty()) line["text"] = e.text;
  sink_.write(e.wall, line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

void event_log::event(const engine::event& e) {
  const log_level level = level_of(e);
  if (e.what == event_kind::attempt_ended) {
    // Of the last attempt, if it failed.
    const std::string words = e.attempt->result == run_result::success ? "" : last_line(*e.attempt);
    if (words.empty())
      last_words_.erase(e.run->run_id);
    else
      last_words_[e.run->run_id] = words;
  }
  if (form_ == log_form::json) {
    write_json(e, level);
  } else if (const std::string text = text_of(e); !text.empty()) {
    write_text(e.wall, level, e.job, text);
  }
  if (e.what == event_kind::run_ended) last_words_.erase(e.run->run_id);
}

void event_log::note(instant wall, log_level level, std::string_view event, std::string_view text, const log_fields& fields) {
  if (form_ == log_form::text) return write_text(wall, level, "", text);
  json line{{"ts", utc(wall)}, {"level", name_of(level)}, {"event", event}, {"text", text}};
  for (const auto& [name, value] : fields) std::visit([&, &key = name](const auto& v) { line[key] = v; }, value);
  sink_.write(wall, line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace looptask::service
