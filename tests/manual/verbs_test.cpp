// What the pages say of the command line holds for this version: the verbs they name, and the man page's options.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "manual/page.hpp"

namespace looptask::manual {
namespace {

using names = std::set<std::string>;

names verbs() {
  names found;
  for (const auto& verb : cli::all_verbs()) found.insert(std::string(verb->name()));
  return found;
}

names matches(const std::string& text, const char* pattern) {
  const std::regex what(pattern);
  names found;
  for (std::sregex_iterator each(text.begin(), text.end(), what), end; each != end; ++each) found.insert((*each)[1]);
  return found;
}

std::vector<std::string> pages() {
  std::vector<std::string> found{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md",
                                 "examples/quickstart.toml"};
  for (const auto& file : std::filesystem::directory_iterator(tests::source_dir() + "/docs"))
    if (file.is_regular_file()) found.push_back("docs/" + file.path().filename().string());
  return found;
}

TEST(pages, name_verbs_of_this_version_only) {
  const names known = verbs();
  names seen;
  for (const auto& path : pages()) {
    for (const auto& verb : matches(page(path), R"(\blooptask ([a-z]+)\b)")) {
      EXPECT_TRUE(known.contains(verb)) << path << ": looptask " << verb;
      seen.insert(verb);
    }
  }
  EXPECT_EQ(seen, known);
}

// The man page's paragraphs on one verb.
std::string man_page_of(const std::string& verb) {
  const std::string text = section(page("docs/looptask.1.scd"), "# VERBS");
  std::smatch begin;
  if (!std::regex_search(text, begin, std::regex("\n\\*" + verb + "\\*[^\n]*\n\t"))) return {};
  const auto from = static_cast<std::size_t>(begin.position()) + static_cast<std::size_t>(begin.length());
  return text.substr(from, text.find("\n\n*", from) - from);
}

TEST(man_page, has_every_option_of_every_verb) {
  const std::string general = section(page("docs/looptask.1.scd"), "# DESCRIPTION");
  for (const auto& verb : verbs()) {
    const std::string of_verb = man_page_of(verb);
    EXPECT_FALSE(of_verb.empty()) << verb;
    const auto help = cli::run_program({.arguments = {verb, "--help"}});
    const names options = matches(help.out.substr(0, help.out.find("Examples:")), R"((?:^|[\s,])(--?[a-z][a-z-]*)\b)");
    EXPECT_GE(options.size(), 4U) << help.out;
    for (const auto& option : options) {
      const std::string bold = "*" + option + "*";
      EXPECT_TRUE(of_verb.find(bold) != std::string::npos || general.find(bold) != std::string::npos) << verb << ' ' << option;
    }
    for (const auto& option : matches(of_verb, R"(\*(--?[a-z][a-z-]*)\*)"))
      EXPECT_TRUE(options.contains(option)) << verb << " has no " << option;
  }
}

TEST(man_page, has_every_exit_code_of_the_manual) {
  const std::string man = section(page("docs/looptask.1.scd"), "# EXIT STATUS");
  const auto codes = matches(section(page("docs/command-line.md"), "## Exit codes"), R"(\n\| (\d+) \|)");
  EXPECT_EQ(matches(man, R"(\n\*(\d+)\*\n)"), codes);
  EXPECT_GE(codes.size(), 8U);
}

}  // namespace
}  // namespace looptask::manual
