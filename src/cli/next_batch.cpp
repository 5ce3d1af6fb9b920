#include "cli/next_batch.hpp"

#include <nlohmann/json.hpp>

#include "schedule/cron.hpp"
#include "schedule/cron_warnings.hpp"
#include "schedule/instant_text.hpp"

namespace looptask::cli {
namespace {

using nlohmann::json;

// The value of a key that may be left out; an error if it has another type.
template <class Read>
auto value_of(const json& line, const char* key, bool (json::*fits)() const noexcept, std::string_view type, Read read)
    -> result<std::optional<decltype(read(line))>> {
  using value = std::optional<decltype(read(line))>;
  const auto found = line.find(key);
  if (found == line.end()) return value();
  if (!((*found).*fits)()) return error{"\"" + std::string(key) + "\" must be " + std::string(type)};
  return value(read(*found));
}

result<std::optional<std::string>> text_of(const json& line, const char* key) {
  return value_of(line, key, &json::is_string, "a string", [](const json& v) { return v.get<std::string>(); });
}

// Wanted of one line, all checked but for the zone.
struct request {
  schedule::cron_expression expression;
  std::string zone;
  instant start;
  std::int64_t count;
};

result<request> request_of(const json& line) {
  const auto expression_text = text_of(line, "expr");
  const auto zone = text_of(line, "tz");
  const auto start_text = text_of(line, "start");
  const auto count = value_of(line, "n", &json::is_number_integer, "a whole number", [](const json& v) {
    // Above int64 the value would wrap around.
    return v.is_number_unsigned() && v.get<std::uint64_t>() > INT64_MAX ? INT64_MAX : v.get<std::int64_t>();
  });
  for (const auto* text : {&expression_text, &zone, &start_text}) {
    if (!*text) return error{text->message()};
  }
  if (!count) return error{count.message()};
  if (!expression_text.value()) return error{"\"expr\" is missing"};
  if (!start_text.value()) return error{"\"start\" is missing"};

  auto expression = schedule::cron_expression::parse(*expression_text.value());
  if (!expression) return error{"\"expr\": " + expression.message()};
  const auto start = schedule::parse_instant(*start_text.value());
  if (!start) return error{"\"start\": " + start.message()};
  const std::int64_t n = count.value().value_or(5);
  if (n < 0 || n > batch_answerer::most_fires) {
    return error{"\"n\" must be from 0 to " + std::to_string(batch_answerer::most_fires)};
  }
  return request{std::move(expression).value(), zone.value().value_or("UTC"), start.value(), n};
}

void append_list(std::string& out, std::string_view text, bool first) {
  if (!first) out += ',';
  out += '"';
  out += text;
  out += '"';
}

std::string fires_as_json(const request& wanted, const schedule::zone& where) {
  std::string out = "\"next\":[";
  std::int64_t left = wanted.count;
  for (auto next = wanted.expression.next(wanted.start, where); next && left > 0; --left) {
    append_list(out, schedule::instant_text(*next, schedule::fraction::milliseconds_if_any), left == wanted.count);
    next = wanted.expression.next(*next, where);
  }
  out += ']';
  const auto warnings = schedule::warnings_of(wanted.expression, where, wanted.start);
  if (!warnings.empty()) {
    out += ",\"warnings\":[";
    for (const auto w : warnings) append_list(out, schedule::name_of(w), w == warnings.front());
    out += ']';
  }
  return out;
}

std::string failure(const std::string& why) {
  return "\"error\":" + json(why).dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace

const result<schedule::zone>& batch_answerer::zone_of(const std::string& name) {
  const auto known = zones_.find(name);
  if (known != zones_.end()) return known->second;
  // Names that are no zones are remembered as well, but not without bound.
  constexpr std::size_t most_remembered = 2'000;
  if (zones_.size() >= most_remembered) zones_.clear();
  return zones_.emplace(name, schedule::zone::load(name, known_zones_)).first->second;
}

std::string batch_answerer::answer(std::string_view text) {
  const json line = json::parse(text, nullptr, false);
  std::string id = "null", said;
  if (line.is_discarded()) {
    said = failure("the line is no JSON");
  } else if (!line.is_object()) {
    said = failure("the line is no JSON object");
  } else {
    const auto given = line.find("id");
    const bool scalar = given == line.end() || given->is_primitive();
    if (scalar && given != line.end()) id = given->dump();
    const auto wanted = request_of(line);
    if (!scalar) {
      said = failure("\"id\" must be a string, a number, true, false or null");
    } else if (!wanted) {
      said = failure(wanted.message());
    } else {
      const auto& where = zone_of(wanted.value().zone);
      said = where ? fires_as_json(wanted.value(), where.value()) : failure("\"tz\": " + where.message());
    }
  }
  return "{\"id\":" + id + ',' + said + '}';
}

}  // namespace looptask::cli
