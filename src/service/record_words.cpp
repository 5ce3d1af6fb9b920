#include "service/record_words.hpp"

#include <fmt/format.h>

#include "schedule/instant_text.hpp"
#include "service/duration_words.hpp"

namespace looptask::service {
namespace {

using ledger::record_phase;

std::string result_of(const ledger::run_record& r) {
  if (r.phase == record_phase::waiting) return "waiting";
  if (r.phase == record_phase::open) return r.started ? "running" : "starting";
  std::string word(r.result ? to_string(*r.result) : to_string(r.outcome));
  if (r.slots > 1) word += fmt::format(" x{}", r.slots);
  return word;
}

std::string nominal_of(const ledger::run_record& r) {
  std::string text = schedule::instant_text(r.key.nominal, schedule::fraction::milliseconds_if_any);
  if (r.slots > 1) text += ".." + schedule::instant_text(r.nominal_last, schedule::fraction::milliseconds_if_any);
  return text;
}

// How the last attempt left, where that says more than the result.
std::string exit_of(const ledger::run_record& r) {
  if (r.attempts.empty()) return {};
  const ledger::attempt_record& last = r.attempts.back();
  if (last.signal) return fmt::format("signal {}", *last.signal);
  if (last.exit_code && *last.exit_code != 0) return fmt::format("exit code {}", *last.exit_code);
  return {};
}

std::string why_of(const ledger::run_record& r) {
  std::string text(r.why == cause::none ? std::string_view() : to_string(r.why));
  const std::string more = r.detail.empty() ? exit_of(r) : r.detail;
  if (!text.empty() && !more.empty()) text += ": ";
  return text + more;
}

}  // namespace

std::vector<text_table::column> record_columns() {
  return {{"JOB"},
          {"NOMINAL (UTC)"},
          {"LATE", text_table::right},
          {"TOOK", text_table::right},
          {"RESULT"},
          {"ATTEMPTS", text_table::right},
          {"WHY"}};
}

std::vector<std::string> record_words(const ledger::run_record& r) {
  const auto took = r.started && r.ended ? std::optional<microseconds>(*r.ended - *r.started) : std::nullopt;
  return {r.key.job,
          nominal_of(r),
          duration_words(r.lateness),
          duration_words(took),
          result_of(r),
          r.attempts.empty() ? "-" : std::to_string(r.attempts.back().n),
          why_of(r)};
}

}  // namespace looptask::service
