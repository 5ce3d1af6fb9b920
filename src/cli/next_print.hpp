#pragma once
// How `looptask next` shows coming fires: lines for people, JSON for programs (docs/command-line.md). Pure functions; any
// thread.
#include <span>
#include <string>

#include "cli/next_fires.hpp"

namespace looptask::cli {

struct next_answer {
  next_item item;
  coming found;
};

// For each job a heading, then a line for each fire: wall time with offset, UTC, how long from `asked`, note.
std::string next_as_text(std::span<const next_answer> answers, instant asked);

// {"schema_version":1,"next":[{"job","trigger","timezone","fires":[{"at","local","in","dst","note"}],"remark","warnings"}]}:
// `at` UTC, `in` seconds, `job` null for an expression.
std::string next_as_json(std::span<const next_answer> answers, instant asked);

// "in 5m", "in 2d 3h", "now", "3s ago": the two largest units.
std::string distance_text(microseconds ahead);

}  // namespace looptask::cli
