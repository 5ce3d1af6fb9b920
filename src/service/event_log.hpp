#pragma once
// Turns what the engine and the service do into lines of the live log: text for a person, or one JSON object a line with
// `ts`, `level`, `event` and, where they apply, `job`, `run_id`, `attempt` and more (docs/command-line.md). Owner: the loop's
// thread.
//
//   event_log log(sink, log_form::text, zone);
//   log.event(engine_event);
//   log.note(wall, log_level::info, "started", "2 jobs");
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/events.hpp"
#include "schedule/zone.hpp"
#include "service/log_sink.hpp"

namespace looptask::service {

enum class log_form : std::uint8_t { text, json };
enum class log_level : std::uint8_t { info, warning, error };

using log_fields = std::vector<std::pair<std::string, std::variant<std::string, std::int64_t>>>;

class event_log {
 public:
  // `zone`: in which the text form shows times; JSON has UTC.
  event_log(log_sink& sink, log_form form, schedule::zone zone);

  void event(const engine::event& e);
  // About the service itself; `fields` go into the JSON form only.
  void note(instant wall, log_level level, std::string_view event, std::string_view text, const log_fields& fields = {});
  // An instant inside a text: in the zone of the lines' times in the text form, else in UTC.
  std::string time_text(instant when) const;

 private:
  std::string text_of(const engine::event& e) const;
  std::string slots_in_words(const ledger::run_record& r) const;
  void write_json(const engine::event& e, log_level level);
  void write_text(instant wall, log_level level, std::string_view job, std::string_view text);

  log_sink& sink_;
  const log_form form_;
  const schedule::zone zone_;
  std::map<std::string, std::string, std::less<>> last_words_;  // by run: the last line a failed attempt wrote
};

}  // namespace looptask::service
