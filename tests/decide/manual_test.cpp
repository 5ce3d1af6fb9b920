// The manual names a test behind each rule; here we see that it exists.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "source_tree.hpp"

namespace looptask {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> all_matches(const std::string& text, const char* pattern) {
  std::set<std::string> found;
  const std::regex expression(pattern);
  for (auto at = std::sregex_iterator(text.begin(), text.end(), expression); at != std::sregex_iterator(); ++at) {
    found.insert((*at)[1].str() + "." + (*at)[2].str());
  }
  return found;
}

TEST(Manual, EveryTestItNamesExists) {
  std::set<std::string> tests;
  for (const char* const folder : {"decide", "engine"}) {
    for (const auto& entry : std::filesystem::directory_iterator(looptask::tests::source_dir() + "/tests/" + folder)) {
      tests.merge(all_matches(read(entry.path()), R"(TEST\((\w+), (\w+)\))"));
    }
  }
  const std::set<std::string> named =
      all_matches(read(looptask::tests::source_dir() + "/docs/semantics.md"), R"(<!-- (\w+)\.(\w+) -->)");
  EXPECT_GE(named.size(), 70U);
  for (const std::string& name : named) EXPECT_TRUE(tests.contains(name)) << "docs/semantics.md names " << name;
}

}  // namespace
}  // namespace looptask
