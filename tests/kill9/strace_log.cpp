#include "kill9/strace_log.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

namespace looptask::tests {
namespace {

struct call {
  std::size_t began = 0;
  std::size_t ended = 0;
  std::string text;  // both halves
};

bool is_spawn(std::string_view text) {
  return text.starts_with("vfork(") || text.starts_with("fork(") || text.starts_with("clone(") || text.starts_with("clone3(");
}

bool is_sync(std::string_view text) { return text.starts_with("fdatasync(") || text.starts_with("fsync("); }

// The descriptor's path, as -y prints it: name(3</a/b>...
bool concerns(std::string_view text, std::string_view log_name) {
  const std::size_t end = text.find('>');
  return end != std::string_view::npos && text.substr(0, end).ends_with(log_name);
}

std::optional<std::string> run_id_in(std::string_view text) {
  constexpr std::string_view name = "\"LOOPTASK_RUN_ID=";
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t from = at + name.size();
  return std::string(text.substr(from, text.find('"', from) - from));
}

// Joins the halves of calls, and gives each call the numbers of the lines where it began and ended.
std::vector<std::pair<long, call>> calls_of(const std::string& text) {
  std::vector<std::pair<long, call>> out;
  std::map<long, std::size_t> unfinished;  // by thread: index in `out`
  std::istringstream in(text);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line); ++number) {
    char* rest = nullptr;
    const long thread = std::strtol(line.c_str(), &rest, 10);
    while (*rest == ' ') ++rest;
    const std::string_view said = rest;
    if (said.starts_with("<... ")) {
      const auto open = unfinished.find(thread);
      if (open == unfinished.end()) continue;
      call& half = out[open->second].second;
      half.text.append(said);
      half.ended = number;
      unfinished.erase(open);
      continue;
    }
    out.emplace_back(thread, call{number, number, std::string(said)});
    if (said.ends_with("<unfinished ...>")) unfinished[thread] = out.size() - 1;
  }
  return out;
}

std::optional<long> result_of(std::string_view text) {
  const std::size_t at = text.rfind(" = ");
  if (at == std::string_view::npos) return std::nullopt;
  return std::strtol(std::string(text.substr(at + 3)).c_str(), nullptr, 10);
}

}  // namespace

traced_service read_strace(const std::string& text, const std::string& log_name) {
  const auto calls = calls_of(text);
  std::map<long, std::size_t> spawn_began;  // by pid of the child
  std::vector<const call*> syncs, writes;
  for (const auto& [thread, one] : calls) {
    if (is_spawn(one.text)) {
      if (const auto child = result_of(one.text); child && *child > 0) spawn_began[*child] = one.began;
    } else if (is_sync(one.text) && concerns(one.text, log_name)) {
      syncs.push_back(&one);
    } else if (one.text.starts_with("pwrite64(") && concerns(one.text, log_name)) {
      writes.push_back(&one);
    }
  }
  traced_service out;
  out.syncs = syncs.size();
  std::vector<long> seen;  // a child may exec again
  for (const auto& [thread, one] : calls) {
    if (!one.text.starts_with("execve(")) continue;
    const auto run_id = run_id_in(one.text);
    const auto began = spawn_began.find(thread);
    if (!run_id || began == spawn_began.end() || std::find(seen.begin(), seen.end(), thread) != seen.end()) continue;
    seen.push_back(thread);
    traced_spawn spawn{*run_id};
    const auto claim = std::find_if(writes.begin(), writes.end(), [&](const call* write) {
      return write->ended < began->second && write->text.find(*run_id) != std::string::npos;
    });
    if (claim != writes.end()) {
      spawn.claimed = true;
      spawn.synced = std::any_of(syncs.begin(), syncs.end(), [&](const call* sync) {
        return sync->began > (*claim)->ended && sync->ended < began->second;
      });
    }
    out.spawns.push_back(std::move(spawn));
  }
  return out;
}

}  // namespace looptask::tests
