// The manual says what the code does: its table of keys, and that its examples are good files.
#include <gtest/gtest.h>

#include <fstream>
#include <source_tree.hpp>
#include <string>

#include "service/configuration.hpp"
#include "service/key_table.hpp"

namespace looptask::service {
namespace {

std::string manual() {
  std::ifstream file(tests::source_dir() + "/docs/configuration.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(manual, has_the_table_of_keys) {
  const std::string text = manual();
  const auto begin = text.find('\n', text.find("<!-- keys:"));
  const auto end = text.find("<!-- end of keys -->");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(text.substr(begin + 1, end - begin - 1), key_table_as_markdown());
}

TEST(manual, its_examples_are_good_files) {
  const std::string text = manual();
  int examples = 0;
  for (auto begin = text.find("```toml\n"); begin != std::string::npos; begin = text.find("```toml\n", begin + 1)) {
    const auto from = begin + 8;
    const std::string example = text.substr(from, text.find("```", from) - from);
    for (const auto& p : read_configuration(example, "example", "/srv").errors)
      ADD_FAILURE() << p.to_string() << "\n" << example;
    ++examples;
  }
  EXPECT_GE(examples, 4);
}

}  // namespace
}  // namespace looptask::service
