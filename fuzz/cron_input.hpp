#pragma once
// What the fuzzer asks of any bytes as a cron expression: that reading ends in a value or one line of error, and that a value
// keeps the promises of schedule/cron.hpp. A broken promise ends the program. tests/schedule/fuzz_corpus_test.cpp replays the
// kept inputs under every compiler.
//
// Input: 5 bytes choose zone and start, the rest is the text.
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <looptask/assert.hpp>

#include "schedule/cron.hpp"
#include "schedule/cron_warnings.hpp"

namespace looptask::fuzz {

inline void read_cron(std::span<const std::uint8_t> bytes) {
  using schedule::cron_expression;
  if (bytes.size() < 5) return;
  static const schedule::zone zones[] = {
      schedule::zone::utc(), schedule::zone::load("America/New_York").value(), schedule::zone::load("Pacific/Apia").value(),
      schedule::zone::load("Australia/Lord_Howe").value(), schedule::zone::load("Africa/Casablanca").value()};
  const schedule::zone& where = zones[bytes[0] % std::size(zones)];
  std::uint32_t start = 0;
  std::memcpy(&start, bytes.data() + 1, sizeof start);
  // Up to the year 2650, beyond the changes that the zones' tables list.
  instant after{std::chrono::seconds(std::int64_t{start} * 5) + microseconds(start % 1'000'000)};
  const std::string text(bytes.begin() + 5, bytes.end());

  const auto parsed = cron_expression::parse(text);
  if (!parsed) {
    LOOPTASK_ASSERT(!parsed.message().empty() && parsed.message().size() < 500, "an error is one short line");
    LOOPTASK_ASSERT(parsed.message().find('\n') == std::string::npos, "an error is one line");
    return;
  }
  const cron_expression& expression = parsed.value();
  const std::string canonical = expression.to_string();
  const auto again = cron_expression::parse(canonical);
  LOOPTASK_ASSERT(again && again.value() == expression, "canonical text reads back as the same expression");
  LOOPTASK_ASSERT(again.value().to_string() == canonical, "canonical text is stable");
  static_cast<void>(schedule::warnings_of(expression, where, after));

  const instant begin = after;
  for (std::uint64_t i = 1; i <= 8; ++i) {
    const auto next = expression.next(after, where);
    if (!next) break;
    LOOPTASK_ASSERT(*next > after, "fire times move forward");
    LOOPTASK_ASSERT(again.value().next(after, where) == next, "equal expressions fire alike");
    static_cast<void>(expression.note_of(*next, where));
    after = *next;
    const auto span = expression.fires_between(begin, after, where);
    LOOPTASK_ASSERT(span.count == i && span.last == after, "counting agrees with stepping");
  }
}

}  // namespace looptask::fuzz
