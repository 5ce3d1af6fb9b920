#include <fmt/format.h>

#include "cli/verbs.hpp"

namespace looptask::cli {
namespace {

class version_verb final : public verb {
 public:
  std::string_view name() const override { return "version"; }
  std::string_view summary() const override { return "show the version and how it was built"; }

  void declare(option_list& options) override {
    options.flag("--json", json_, "as one JSON object");
    options.example("looptask version", "the version, in words");
    options.example("looptask version --json", "the same for programs");
  }

  int run(invocation& call) override {
    constexpr std::string_view compiler =
#if defined(__clang__)
        "clang " __clang_version__;
#else
        "gcc " __VERSION__;
#endif
    if (json_)
      call.io.out(fmt::format("{{\"schema_version\":1,\"version\":\"{}\",\"compiler\":\"{}\"}}\n", LOOPTASK_VERSION, compiler));
    else
      call.io.out(fmt::format("looptask {} ({})\n", LOOPTASK_VERSION, compiler));
    return exit_code::ok;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<verb> make_version_verb() { return std::make_unique<version_verb>(); }

}  // namespace looptask::cli
