#pragma once
// What a verb of the command line is: its name, its options, and what it does. The library that parses stays in
// command_line.cpp; a verb only says which of its variables an option fills.
//
// Used on the main thread. To add a verb: derive, give it a factory in verbs.hpp, list it in verbs.cpp.
//
//   class hello_verb final : public verb {
//     std::string_view name() const override { return "hello"; }
//     std::string_view summary() const override { return "greet somebody"; }
//     void declare(option_list& options) override { options.flag("--loud", loud_, "in capitals"); }
//     int run(invocation& call) override { call.io.out(loud_ ? "HELLO\n" : "hello\n"); return exit_code::ok; }
//     bool loud_ = false;
//   };
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/host.hpp>
#include <looptask/result.hpp>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"
#include "cli/places.hpp"

namespace looptask::cli {

// The targets outlive the parsing; an option that is not given leaves its target alone. `names` as typed: "-n,--count".
class option_list {
 public:
  virtual void flag(const std::string& names, bool& target, const std::string& help) = 0;
  virtual void value(const std::string& names, const std::string& placeholder, std::optional<std::string>& target,
                     const std::string& help) = 0;
  virtual void number(const std::string& names, std::int64_t& target, std::int64_t least, std::int64_t most,
                      const std::string& help) = 0;
  virtual void argument(const std::string& placeholder, std::optional<std::string>& target, const std::string& help) = 0;
  virtual void arguments(const std::string& placeholder, std::vector<std::string>& target, const std::string& help) = 0;
  // Shown at the end of --help: "command" and what it does, one pair for each example.
  virtual void example(const std::string& command, const std::string& what) = 0;

 protected:
  ~option_list() = default;
};

// What a verb gets to work with.
class invocation {
 public:
  invocation(console& out, const environment& variables, unique_function<std::unique_ptr<host>()> open_host)
      : io(out), env(variables), open_host_(std::move(open_host)) {}

  console& io;
  const environment& env;
  std::optional<std::string> config;    // -c, --config as typed
  std::optional<std::string> data_dir;  // --data-dir as typed
  std::string_view verb;

  // Opened when first asked for. Without a loop its clock and files may be used as they are.
  host& where();
  // The configuration file that was asked for: `argument`, or --config. An error if both are given.
  result<std::optional<std::string>> typed_config(const std::optional<std::string>& argument) const;
  // "looptask VERB: message" on stderr; returns `code` so that a verb can end with it.
  int fail(int code, std::string_view message) const;

 private:
  unique_function<std::unique_ptr<host>()> open_host_;
  std::unique_ptr<host> host_;
};

class verb {
 public:
  virtual ~verb() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  // half a line, no full stop
  virtual void declare(option_list& options) = 0;
  virtual int run(invocation& call) = 0;  // the exit code; an exception becomes 125
};

}  // namespace looptask::cli
