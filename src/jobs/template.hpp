#pragma once
// Texts with ${...} in them, as environment values have: checked when the configuration is read, filled in for each attempt.
//
//   ${env:NAME}         a variable of the service's own environment; not set: the expansion fails
//   ${file:PATH}        the content of a file, read anew each time, without one line break at its end; a relative path counts
//                       from the folder of the configuration
//   ${job} ${run_id} ${attempt}
//   ${nominal}          UTC, RFC 3339 with milliseconds
//   ${nominal:FORMAT}   in the job's zone: %Y %m %d %H %M %S %y %j %e %u %F %T %z %s %%
//
// `$${` stands for the two characters `${`; any other `$` for itself. Values are immutable and may be shared by threads.
//
//   auto text = text_template::parse("/var/log/${job}-${nominal:%F}.log");  // error: "column 10: unknown template ..."
//   text.value().expand(facts, sources);
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <looptask/host.hpp>
#include <looptask/time.hpp>

#include "schedule/zone.hpp"

namespace looptask::jobs {

// What is different for each attempt. Views: valid during the expansion.
struct template_facts {
  std::string_view job;
  std::string_view run_id;
  instant nominal{};
  std::uint32_t attempt = 1;
};

// What the same texts draw on all the time.
struct template_sources {
  std::vector<std::string> environment;  // "NAME=value": the service's own
  std::string folder;                    // absolute: where relative paths count from
  schedule::zone zone = schedule::zone::utc();
};

struct template_error {
  std::size_t column = 1;  // of the first byte in question, counted from 1 in the text given
  std::string message;     // one line, without the column
};

class text_template {
 public:
  text_template() = default;  // the empty text
  static std::variant<text_template, template_error> parse(std::string_view text);
  static text_template literal(std::string text);

  // Throws std::runtime_error that names the template and the reason: a variable that is not set, a file that cannot be read,
  // a value that cannot stand in an environment (a NUL).
  std::string expand(const template_facts& facts, const template_sources& sources, file_port& files) const;

 private:
  enum class kind : std::uint8_t { text, variable, file, job, run_id, attempt, nominal, nominal_format };
  struct part {
    kind what;
    std::string argument;
  };
  struct parser;
  static std::string expand(const part& one, const template_facts& facts, const template_sources& sources, file_port& files);

  std::vector<part> parts_;
};

// The value of a variable among "NAME=value" entries; nullopt if it is not there.
std::optional<std::string_view> find_variable(const std::vector<std::string>& environment, std::string_view name);

// `when` as `format` asks; the format has been checked by text_template::parse.
std::string format_instant(instant when, std::string_view format, const schedule::zone& zone);

}  // namespace looptask::jobs
