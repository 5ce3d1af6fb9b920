#include "cli/command_line.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include <looptask/real_host.hpp>

#include "cli/memory_console.hpp"

namespace looptask::cli {
namespace {

struct answer {
  int code;
  std::string out, err;
};

answer ask(std::vector<std::string> arguments) {
  memory_console io;
  const int code = run_command_line(std::move(arguments), io, process_environment(),
                                    []() -> std::unique_ptr<host> { throw std::runtime_error("no host is needed here"); });
  return {code, io.said, io.complained};
}

TEST(command_line, shows_help_on_stdout_and_ends_well) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"}, {"-h"}}) {
    const auto a = ask(arguments);
    EXPECT_EQ(a.code, 0);
    EXPECT_NE(a.out.find("version"), std::string::npos) << a.out;
    EXPECT_NE(a.out.find("Exit codes:"), std::string::npos) << a.out;
    EXPECT_EQ(a.err, "");
  }
}

TEST(command_line, without_a_verb_shows_help_on_stderr_as_wrong_usage) {
  const auto a = ask({});
  EXPECT_EQ(a.code, 2);
  EXPECT_EQ(a.out, "");
  EXPECT_NE(a.err.find("version"), std::string::npos);
}

TEST(command_line, help_of_a_verb_has_examples) {
  const auto a = ask({"version", "--help"});
  EXPECT_EQ(a.code, 0);
  EXPECT_NE(a.out.find("Usage: looptask version [OPTIONS]"), std::string::npos) << a.out;
  EXPECT_NE(a.out.find("Examples:\n  looptask version\n"), std::string::npos) << a.out;
  EXPECT_NE(a.out.find("--config"), std::string::npos) << a.out;
}

TEST(command_line, help_is_a_verb_too) {
  EXPECT_EQ(ask({"help"}).out, ask({"--help"}).out);
  EXPECT_EQ(ask({"help"}).code, 0);
  EXPECT_EQ(ask({"help", "version"}).out, ask({"version", "--help"}).out);
  EXPECT_EQ(ask({"help", "version"}).code, 0);
  EXPECT_EQ(ask({"help", "verison"}).err, "looptask: no verb 'verison'; did you mean 'version'?; see looptask --help\n");
  EXPECT_EQ(ask({"help", "version", "now"}).code, 2);
}

TEST(command_line, help_says_what_exit_codes_mean) {
  const std::string help = ask({"--help"}).out;
  for (const char* meaning :
       {"0 ok (run: a clean stop, whatever the jobs did)", "1 a check failed", "3 there is no history yet,"})
    EXPECT_NE(help.find(meaning), std::string::npos) << help;
}

TEST(command_line, a_file_and_a_configuration_are_one_too_many) {
  for (const char* verb : {"run", "check"}) {
    memory_console io;
    const int code = run_command_line({verb, "a.toml", "-c", "b.toml"}, io, process_environment(),
                                      [] { return std::make_unique<real_host>(); });
    EXPECT_EQ(code, 2);
    EXPECT_EQ(io.complained, "looptask " + std::string(verb) +
                                 ": FILE \"a.toml\" and --config \"b.toml\" both name the configuration; keep one\n");
  }
}

TEST(command_line, what_was_typed_cannot_steer_the_terminal) {
  EXPECT_EQ(ask({"version", "\x1b[31m\xC2\x9B"}).err,
            "looptask version: unexpected argument '\\u001B[31m\\u009B'; see looptask version --help\n");
}

TEST(command_line, names_the_nearest_verb) {
  const auto a = ask({"verison"});
  EXPECT_EQ(a.code, 2);
  EXPECT_EQ(a.err, "looptask: no verb 'verison'; did you mean 'version'?; see looptask --help\n");
}

TEST(command_line, says_that_a_later_verb_is_not_there_yet) {
  const auto a = ask({"simulate", "--seed", "1"});
  EXPECT_EQ(a.code, 2);
  EXPECT_EQ(a.err, "looptask: the verb 'simulate' is not in this version yet; see looptask --help\n");
}

TEST(command_line, names_the_nearest_option) {
  const auto a = ask({"version", "--jsn"});
  EXPECT_EQ(a.code, 2);
  EXPECT_EQ(a.err, "looptask version: unknown option '--jsn'; did you mean '--json'?; see looptask version --help\n");
}

TEST(command_line, refuses_a_surplus_argument) {
  const auto a = ask({"version", "now"});
  EXPECT_EQ(a.code, 2);
  EXPECT_EQ(a.err, "looptask version: unexpected argument 'now'; see looptask version --help\n");
}

TEST(command_line, an_option_without_its_value_is_wrong_usage) {
  const auto a = ask({"version", "--config"});
  EXPECT_EQ(a.code, 2);
  EXPECT_NE(a.err.find("--config"), std::string::npos) << a.err;
}

TEST(command_line, global_options_stand_before_or_after_the_verb) {
  EXPECT_EQ(ask({"--data-dir", "/x", "version"}).code, 0);
  EXPECT_EQ(ask({"version", "-c", "x.toml", "--data-dir", "/x"}).code, 0);
}

TEST(command_line, version_has_a_form_for_programs) {
  EXPECT_EQ(ask({"version"}).out.rfind("looptask ", 0), 0U);
  EXPECT_EQ(ask({"--version"}).out, ask({"version"}).out);
  EXPECT_EQ(ask({"version", "--json"}).out.rfind("{\"schema_version\":1,\"version\":\"", 0), 0U);
}

}  // namespace
}  // namespace looptask::cli
