#include "jobs/command_environment.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "schedule/instant_text.hpp"

namespace looptask::jobs {
namespace {

class environment {
 public:
  void set(std::string_view name, std::string_view value) {
    std::string pair = std::string(name) + "=" + std::string(value);
    const auto same = std::find_if(pairs_.begin(), pairs_.end(), [&](const std::string& other) {
      return other.size() > name.size() && other[name.size()] == '=' && other.starts_with(name);
    });
    if (same == pairs_.end())
      pairs_.push_back(std::move(pair));
    else
      *same = std::move(pair);
  }
  std::vector<std::string> take() && { return std::move(pairs_); }

 private:
  std::vector<std::string> pairs_;
};

}  // namespace

std::vector<std::string> make_environment(const command_options& options, const engine::attempt_context& context,
                                          file_port& files) {
  environment made;
  made.set("PATH", default_path);
  made.set("HOME", options.home);
  made.set("LANG", "C.UTF-8");
  for (const std::string& pair : options.inherited) {
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos && equals != 0) made.set(pair.substr(0, equals), std::string_view(pair).substr(equals + 1));
  }
  const template_facts facts{context.key.job, context.run_id, context.key.nominal, context.attempt};
  for (const auto& [name, value] : options.env) {
    try {
      made.set(name, value.expand(facts, options.sources, files));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("env." + name + ": " + error.what());
    }
  }
  made.set("LOOPTASK_JOB", context.key.job);
  made.set("LOOPTASK_RUN_ID", context.run_id);
  made.set("LOOPTASK_NOMINAL", schedule::instant_text(context.key.nominal, schedule::fraction::milliseconds));
  made.set("LOOPTASK_ATTEMPT", std::to_string(context.attempt));
  return std::move(made).take();
}

}  // namespace looptask::jobs
