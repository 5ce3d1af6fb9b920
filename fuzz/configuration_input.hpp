#pragma once
// What the fuzzer asks of any bytes as a configuration file, and as a duration: reading ends in a value or in errors, each on
// one line with a place inside the text, and never in both or neither. A broken promise ends the program.
// tests/config/fuzz_corpus_test.cpp replays the kept inputs under every compiler.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <looptask/assert.hpp>

#include "service/byte_size.hpp"
#include "service/configuration.hpp"
#include "service/duration.hpp"

namespace looptask::fuzz {

inline void read_configuration(std::span<const std::uint8_t> bytes) {
  const std::string text(bytes.begin(), bytes.end());
  const auto loaded = service::read_configuration(text, "f", "/d");
  LOOPTASK_ASSERT(loaded.value.has_value() == loaded.errors.empty(), "a value or errors");
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  for (const auto* list : {&loaded.errors, &loaded.warnings}) {
    service::problem before;
    for (const auto& p : *list) {
      LOOPTASK_ASSERT(p.line >= 1 && p.line <= lines + 1 && p.column >= 1, "a place in the text");
      LOOPTASK_ASSERT(p.line > before.line || (p.line == before.line && p.column >= before.column), "in the order of the text");
      LOOPTASK_ASSERT(!p.message.empty() && p.to_string().find('\n') == std::string::npos, "one line");
      before = p;
    }
  }
  if (!loaded.value) return;
  for (const auto& job : loaded.value->jobs) {
    LOOPTASK_ASSERT(service::is_name(job.definition.name), "names of jobs are checked");
    LOOPTASK_ASSERT(!job.command.argv.empty() && job.command.workdir.front() == '/', "there is something to run, and a place");
    if (const auto* every = std::get_if<schedule::every_trigger>(&job.definition.trigger))
      LOOPTASK_ASSERT(every->interval >= std::chrono::milliseconds(1), "an interval has at least a millisecond");
  }
}

inline void read_duration(std::span<const std::uint8_t> bytes) {
  const std::string text(bytes.begin(), bytes.end());
  if (const auto parsed = service::parse_duration(text)) {
    LOOPTASK_ASSERT(parsed.value() <= service::longest_duration, "durations are bounded");
    const auto again = service::parse_duration(service::print_duration(parsed.value()));
    LOOPTASK_ASSERT(again && again.value() == parsed.value(), "what is printed reads as the same");
  } else {
    LOOPTASK_ASSERT(parsed.message().find('\n') == std::string::npos, "an error is one line");
  }
  if (const auto parsed = service::parse_size(text)) {
    const auto again = service::parse_size(service::print_size(parsed.value()));
    LOOPTASK_ASSERT(again && again.value() == parsed.value(), "what is printed reads as the same");
  }
}

}  // namespace looptask::fuzz
