#include "schedule/trigger_text.hpp"

#include "schedule/wording.hpp"

namespace looptask::schedule {
namespace {

struct writer {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(const every_trigger& t) const {
    const char* const from = t.from == interval_from::end ? "end" : t.from == interval_from::start ? "start" : "grid";
    return "every " + std::to_string(t.interval.count()) + "us from " + from + " after " +
           std::to_string(t.initial_delay.count()) + "us";
  }
  std::string operator()(const cron_trigger& t) const { return "cron " + t.expression.to_string() + " in " + t.where.name(); }
  std::string operator()(const at_trigger& t) const { return "at " + std::to_string(t.when.time_since_epoch().count()) + "us"; }
};

}  // namespace

std::string trigger_text(const job_definition& definition) {
  return (definition.enabled ? "" : "off ") + std::visit(writer{}, definition.trigger);
}

}  // namespace looptask::schedule
