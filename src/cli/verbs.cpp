#include "cli/verbs.hpp"

#include <array>

namespace looptask::cli {

std::vector<std::unique_ptr<verb>> all_verbs() {
  std::vector<std::unique_ptr<verb>> verbs;
  verbs.push_back(make_run_verb());
  verbs.push_back(make_check_verb());
  verbs.push_back(make_next_verb());
  verbs.push_back(make_runs_verb());
  verbs.push_back(make_version_verb());
  return verbs;
}

std::span<const std::string_view> coming_verbs() noexcept {
  static constexpr std::array<std::string_view, 28> names{
      "simulate", "why",      "ls",     "show",       "status", "logs",   "top",    "timeline", "trigger", "cancel",
      "retry",    "backfill", "wait",   "exec",       "pause",  "resume", "reload", "diff",     "nodes",   "shards",
      "drain",    "import",   "schema", "completion", "token",  "db",     "doctor", "dump"};
  return names;
}

}  // namespace looptask::cli
