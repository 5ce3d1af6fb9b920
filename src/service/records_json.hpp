#pragma once
// Records of the ledger as JSON, the form promised by `runs --json` and `why --json` (docs/history.md): instants in UTC, RFC
// 3339 with milliseconds, durations in seconds, null for what is not known or not yet. Fields are only added. Bytes that are no
// UTF-8 come out as U+FFFD. Pure; any thread.
//
//   out(runs_json_begin);
//   for (const auto& r : records) out(first ? record_json(r) : "," + record_json(r));
//   out(runs_json_end);
#include <string>
#include <string_view>

#include "ledger/ledger.hpp"

namespace looptask::service {

inline constexpr std::string_view runs_json_begin = R"({"schema_version":1,"runs":[)";
inline constexpr std::string_view runs_json_end = "]}\n";

std::string record_json(const ledger::run_record& record);

}  // namespace looptask::service
