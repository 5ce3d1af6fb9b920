#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>

#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "cli/verbs.hpp"

namespace looptask::cli {
namespace {

class cli11_options final : public option_list {
 public:
  explicit cli11_options(CLI::App& app) : app_(app) {}

  void flag(const std::string& names, bool& target, const std::string& help) override {
    app_.add_flag_callback(
        names, [&target] { target = true; }, help);
  }
  void value(const std::string& names, const std::string& placeholder, std::optional<std::string>& target,
             const std::string& help) override {
    app_.add_option_function<std::string>(
            names, [&target](const std::string& text) { target = text; }, help)
        ->type_name(placeholder);
  }
  void number(const std::string& names, std::int64_t& target, std::int64_t least, std::int64_t most,
              const std::string& help) override {
    app_.add_option_function<std::int64_t>(
            names, [&target](const std::int64_t& n) { target = n; }, help)
        ->check(CLI::Range(least, most).description(""))
        ->type_name("N");
  }
  void argument(const std::string& placeholder, std::optional<std::string>& target, const std::string& help) override {
    app_.add_option_function<std::string>(
            placeholder, [&target](const std::string& text) { target = text; }, help)
        ->type_name("");
  }
  void arguments(const std::string& placeholder, std::vector<std::string>& target, const std::string& help) override {
    app_.add_option_function<std::vector<std::string>>(
            placeholder, [&target](const std::vector<std::string>& texts) { target = texts; }, help)
        ->type_name("");
  }
  void example(const std::string& command, const std::string& what) override {
    examples_ += examples_.empty() ? "Examples:\n" : "";
    examples_ += fmt::format("  {}\n      {}\n", command, what);
  }

  const std::string& examples() const { return examples_; }

 private:
  CLI::App& app_;
  std::string examples_;
};

struct global_options {
  std::optional<std::string> config, data_dir;
};

void declare_globals(CLI::App& app, global_options& globals) {
  cli11_options options(app);
  options.value("-c,--config", "FILE", globals.config, "configuration file");
  options.value("--data-dir", "DIR", globals.data_dir, "where history and lock are kept");
  app.set_help_flag("-h,--help", "show this help");
}

constexpr std::string_view places_help =
    "Configuration: FILE or --config, $LOOPTASK_CONFIG, ./looptask.toml, $XDG_CONFIG_HOME/looptask/jobs.toml,\n"
    "/etc/looptask/jobs.toml. Data directory: --data-dir, $LOOPTASK_DATA_DIR, $XDG_STATE_HOME/looptask\n"
    "(root: /var/lib/looptask).\n\n"
    "Exit codes: 0 ok (run: a clean stop, whatever the jobs did), 1 a check failed, 2 usage, 3 there is no history yet,\n"
    "or no service runs, 4 no such job or run, 5 refused, 78 bad configuration, 125 looptask itself failed.\n";

int usage_error(console& io, std::string_view verb, std::string_view message) {
  io.say(fmt::format("looptask{}{}: {}; see looptask{}{} --help", verb.empty() ? "" : " ", verb, message,
                     verb.empty() ? "" : " ", verb));
  return exit_code::usage;
}

int unknown_verb(console& io, const std::string& word, const std::vector<std::unique_ptr<verb>>& verbs) {
  const auto coming = coming_verbs();
  if (std::find(coming.begin(), coming.end(), word) != coming.end()) {
    io.say(fmt::format("looptask: the verb '{}' is not in this version yet; see looptask --help", word));
    return exit_code::usage;
  }
  std::vector<std::string_view> names;
  names.reserve(verbs.size());
  for (const auto& v : verbs) names.push_back(v->name());
  const auto near = nearest_name(word, names);
  return usage_error(io, "",
                     near ? fmt::format("no verb '{}'; did you mean '{}'?", word, *near) : fmt::format("no verb '{}'", word));
}

// `help` and `help VERB` are other words for --help. An exit code if that is not to be parsed any more.
std::optional<int> translate_help(std::vector<std::string>& arguments, console& io,
                                  const std::vector<std::unique_ptr<verb>>& verbs) {
  if (arguments.empty() || arguments.front() != "help") return std::nullopt;
  arguments.erase(arguments.begin());
  if (arguments.size() > 1) return usage_error(io, "", fmt::format("unexpected argument '{}'", arguments[1]));
  if (!arguments.empty()) {
    const auto named = [&](const std::unique_ptr<verb>& v) { return v->name() == arguments.front(); };
    const bool option = arguments.front().rfind('-', 0) == 0;
    if (!option && std::none_of(verbs.begin(), verbs.end(), named)) return unknown_verb(io, arguments.front(), verbs);
  }
  arguments.emplace_back("--help");
  return std::nullopt;
}

std::string unexpected_argument(const CLI::App& sub) {
  const auto rest = sub.remaining();
  const std::string word = rest.empty() ? "" : rest.front();
  if (word.empty() || word[0] != '-') return fmt::format("unexpected argument '{}'", word);
  const std::string typed = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const auto* option : sub.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = nearest_name(typed, known);
  return near ? fmt::format("unknown option '{}'; did you mean '{}'?", typed, *near)
              : fmt::format("unknown option '{}'", typed);
}

std::string without_line_ends(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

}  // namespace

host& invocation::where() {
  if (!host_) host_ = open_host_();
  return *host_;
}

result<std::optional<std::string>> invocation::typed_config(const std::optional<std::string>& argument) const {
  if (argument && config)
    return error{
        fmt::format("FILE {} and --config {} both name the configuration; keep one", in_quotes(*argument), in_quotes(*config))};
  return argument ? argument : config;
}

int invocation::fail(int code, std::string_view message) const {
  io.say(fmt::format("looptask {}: {}", verb, message));
  return code;
}

int run_command_line(std::vector<std::string> arguments, console& io, const environment& env,
                     unique_function<std::unique_ptr<host>()> open_host) {
  const auto verbs = all_verbs();
  if (const auto code = translate_help(arguments, io, verbs)) return *code;
  global_options globals;
  CLI::App app("LoopTask runs jobs on intervals, cron expressions and at given times, and remembers what happened.",
               "looptask");
  declare_globals(app, globals);
  app.get_formatter()->column_width(34);
  app.allow_extras();  // here and in each verb: we look at the rest ourselves, to say what would be right
  app.footer(std::string(places_help));
  bool show_version = false;
  app.add_flag_callback(
      "--version", [&show_version] { show_version = true; }, "show the version");

  std::vector<std::unique_ptr<cli11_options>> declared;
  for (const auto& v : verbs) {
    auto* sub = app.add_subcommand(std::string(v->name()), std::string(v->summary()));
    declared.push_back(std::make_unique<cli11_options>(*sub));
    v->declare(*declared.back());
    declare_globals(*sub, globals);
    sub->footer(declared.back()->examples());
  }

  const auto chosen = [&]() -> verb* {
    for (const auto& v : verbs)
      if (app.got_subcommand(std::string(v->name()))) return v.get();
    return nullptr;
  };
  const auto sub_app = [&](const verb& v) { return app.get_subcommand(std::string(v.name())); };

  try {
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    verb* v = chosen();
    io.out(v == nullptr ? app.help() : sub_app(*v)->help("looptask"));
    return exit_code::ok;
  } catch (const CLI::ParseError& e) {
    verb* v = chosen();
    return usage_error(io, v == nullptr ? "" : v->name(), without_line_ends(e.what()));
  }

  verb* v = chosen();
  if (v == nullptr && show_version && app.remaining().empty()) {
    for (const auto& candidate : verbs)
      if (candidate->name() == "version") v = candidate.get();
  }
  if (v == nullptr) {
    for (const auto& word : app.remaining())
      if (word.empty() || word[0] != '-') return unknown_verb(io, word, verbs);
    if (!app.remaining().empty()) return usage_error(io, "", unexpected_argument(app));
    io.err(app.help());
    return exit_code::usage;
  }
  for (const CLI::App* part : {static_cast<const CLI::App*>(sub_app(*v)), static_cast<const CLI::App*>(&app)})
    if (!part->remaining().empty()) return usage_error(io, v->name(), unexpected_argument(*part));

  try {
    invocation call(io, env, std::move(open_host));
    call.config = globals.config;
    call.data_dir = globals.data_dir;
    call.verb = v->name();
    return v->run(call);
  } catch (const std::exception& e) {
    io.say(fmt::format("looptask {}: {}", v->name(), e.what()));
    return exit_code::internal;
  }
}

}  // namespace looptask::cli
