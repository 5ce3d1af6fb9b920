#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/verbs.hpp"
#include "service/configuration.hpp"
#include "service/counted.hpp"

namespace looptask::cli {
namespace {

nlohmann::ordered_json as_json(const service::problem& p) {
  nlohmann::ordered_json object{
      {"file", p.file}, {"line", p.line}, {"column", p.column}, {"key", p.key}, {"message", p.message}};
  if (!p.warning_class.empty()) object["class"] = p.warning_class;
  return object;
}

std::string as_json(const service::loaded_configuration& loaded) {
  nlohmann::ordered_json report{
      {"schema_version", 1}, {"errors", nlohmann::json::array()}, {"warnings", nlohmann::json::array()}};
  for (const auto& p : loaded.errors) report["errors"].push_back(as_json(p));
  for (const auto& p : loaded.warnings) report["warnings"].push_back(as_json(p));
  // What a file holds may be no UTF-8; such bytes come out as U+FFFD.
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

using service::counted;

std::string verdict(const service::loaded_configuration& loaded) {
  const std::string warnings = loaded.warnings.empty() ? "" : ", " + counted(loaded.warnings.size(), "warning");
  if (!loaded.value) return counted(loaded.errors.size(), "error") + warnings;
  return counted(loaded.value->jobs.size(), "job") + ", no errors" + warnings;
}

class check_verb final : public verb {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override { return "find all mistakes in a configuration file"; }

  void declare(option_list& options) override {
    options.argument("FILE", file_, "configuration file");
    options.flag("--strict", strict_, "warnings count as well: exit 1");
    options.flag("--json", json_, "as one JSON object on stdout");
    options.example("looptask check jobs.toml", "a line FILE:LINE:COLUMN: KEY: what; what would be right, for each mistake");
    options.example("looptask check --strict --json jobs.toml", "for an editor or a pipeline");
  }

  int run(invocation& call) override {
    const auto typed = call.typed_config(file_);
    if (!typed) return call.fail(exit_code::usage, typed.message());
    const auto file = find_config(typed.value(), call.env, call.where().files());
    if (!file) return call.fail(exit_code::bad_configuration, file.message());
    const auto loaded = service::load_configuration(file.value(), call.where());
    if (json_) {
      call.io.out(as_json(loaded));
    } else {
      for (const auto& p : loaded.errors) call.io.out(printable(p.to_string()) + "\n");
      for (const auto& p : loaded.warnings) call.io.out(printable(p.to_string()) + "\n");
      call.io.say(file.value() + ": " + verdict(loaded));
    }
    if (!loaded.value) return exit_code::bad_configuration;
    return strict_ && !loaded.warnings.empty() ? exit_code::check_failed : exit_code::ok;
  }

 private:
  std::optional<std::string> file_;
  bool strict_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<verb> make_check_verb() { return std::make_unique<check_verb>(); }

}  // namespace looptask::cli
