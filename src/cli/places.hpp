#pragma once
// Where things are: the configuration file and the data directory, from options, environment and the usual places.
// Plain functions; main thread.
#include <optional>
#include <string>
#include <vector>

#include <looptask/host.hpp>
#include <looptask/result.hpp>

namespace looptask::cli {

// The environment of the process as the command line sees it; tests give their own.
class environment {
 public:
  virtual std::optional<std::string> get(const std::string& name) const = 0;  // an empty variable counts as not set
  virtual std::vector<std::string> all() const = 0;                           // "NAME=value"
  virtual bool root() const = 0;                                              // effective user id 0

 protected:
  ~environment() = default;
};

// The process's own.
const environment& process_environment() noexcept;

// The first of: `typed`, $LOOPTASK_CONFIG, ./looptask.toml, $XDG_CONFIG_HOME/looptask/jobs.toml (~/.config), and
// /etc/looptask/jobs.toml. The last three only if they exist; the error lists where it looked.
result<std::string> find_config(const std::optional<std::string>& typed, const environment& env, file_port& files);

// The first of: `typed`, $LOOPTASK_DATA_DIR, $XDG_STATE_HOME/looptask (~/.local/state); for root /var/lib/looptask. Not created
// here. Fails only for a user without a home directory.
result<std::string> find_data_dir(const std::optional<std::string>& typed, const environment& env);

}  // namespace looptask::cli
