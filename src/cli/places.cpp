#include "cli/places.hpp"

#include <unistd.h>

#include <cstdlib>

namespace looptask::cli {
namespace {

class process_variables final : public environment {
 public:
  std::optional<std::string> get(const std::string& name) const override {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  }
  std::vector<std::string> all() const override {
    std::vector<std::string> entries;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
  }
  bool root() const override { return ::geteuid() == 0; }
};

// $XDG_..._HOME, or its default below the home directory. A relative value is ignored, as the XDG specification demands.
std::optional<std::string> xdg(const environment& env, const std::string& variable, const std::string& below_home) {
  if (auto set = env.get(variable); set && set->front() == '/') return set;
  if (auto home = env.get("HOME")) return *home + below_home;
  return std::nullopt;
}

}  // namespace

const environment& process_environment() noexcept {
  static const process_variables variables;
  return variables;
}

result<std::string> find_config(const std::optional<std::string>& typed, const environment& env, file_port& files) {
  if (typed) return *typed;
  if (auto set = env.get("LOOPTASK_CONFIG")) return *set;
  std::string looked;
  const auto user = xdg(env, "XDG_CONFIG_HOME", "/.config");
  for (const auto& path : {std::optional<std::string>("./looptask.toml"),
                           user ? std::optional<std::string>(*user + "/looptask/jobs.toml") : std::nullopt,
                           std::optional<std::string>("/etc/looptask/jobs.toml")}) {
    if (!path) continue;
    if (files.exists(*path)) return *path;
    looked += looked.empty() ? *path : ", " + *path;
  }
  return error{"no configuration file: looked for " + looked + "; name one as argument, with --config or in $LOOPTASK_CONFIG"};
}

result<std::string> find_data_dir(const std::optional<std::string>& typed, const environment& env) {
  if (typed) {
    if (typed->empty()) return error{"--data-dir is empty; name a directory"};
    return *typed;
  }
  if (auto set = env.get("LOOPTASK_DATA_DIR")) return *set;
  if (auto set = env.get("XDG_STATE_HOME"); set && set->front() == '/') return *set + "/looptask";
  if (env.root()) return std::string("/var/lib/looptask");
  if (auto state = xdg(env, "XDG_STATE_HOME", "/.local/state")) return *state + "/looptask";
  return error{"no data directory: $HOME is not set; name one with --data-dir or in $LOOPTASK_DATA_DIR"};
}

}  // namespace looptask::cli
