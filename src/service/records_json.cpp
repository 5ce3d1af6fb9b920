#include "service/records_json.hpp"

#include <nlohmann/json.hpp>

#include "ledger/record_rules.hpp"
#include "schedule/instant_text.hpp"
#include "service/duration_words.hpp"

namespace looptask::service {
namespace {

using json = nlohmann::ordered_json;

json text(instant when) { return schedule::instant_text(when, schedule::fraction::milliseconds); }
json text(const std::optional<instant>& when) { return when ? text(*when) : json(); }

json seconds(const std::optional<microseconds>& value) { return value ? json(in_seconds(*value)) : json(); }

json between(const std::optional<instant>& from, const std::optional<instant>& to) {
  return from && to ? seconds(*to - *from) : json();
}

template <class T>
json number(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json word(const std::optional<run_result>& result) { return result ? json(to_string(*result)) : json(); }

json attempt_object(const ledger::attempt_record& a) {
  return {{"n", a.n},
          {"started", text(a.started)},
          {"ended", text(a.ended)},
          {"result", word(a.result)},
          {"exit_code", number(a.exit_code)},
          {"signal", number(a.signal)},
          {"duration", between(a.started, a.ended)},
          {"cpu", seconds(a.cpu)},
          {"max_rss", a.max_rss > 0 ? json(a.max_rss) : json()}};
}

}  // namespace

std::string record_json(const ledger::run_record& r) {
  const bool decided = r.phase != ledger::record_phase::waiting;
  json object{{"run_id", r.run_id.empty() ? json() : json(r.run_id)},
              {"job", r.key.job},
              {"kind", to_string(r.key.kind)},
              {"nominal", text(r.key.nominal)},
              {"due", text(r.due)},
              {"started", text(r.started)},
              {"ended", text(r.ended)},
              {"outcome", decided ? json(to_string(r.outcome)) : json()},
              {"result", word(r.result)},
              {"cause", r.why == cause::none ? json() : json(to_string(r.why))},
              {"attempts", json::array()},
              {"detail", r.detail},
              {"phase", to_string(r.phase)},
              {"epoch", r.key.epoch},
              {"lateness", seconds(r.lateness)},
              {"duration", between(r.started, r.ended)},
              {"slots", r.slots},
              {"nominal_last", text(r.nominal_last)}};
  for (const ledger::attempt_record& a : r.attempts) object["attempts"].push_back(attempt_object(a));
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace looptask::service
