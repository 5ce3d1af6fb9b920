// The manual says what the code does: its table of keys, and that its examples, and the README's, are good files.
#include <gtest/gtest.h>

#include <fstream>
#include <source_tree.hpp>
#include <string>

#include "service/configuration.hpp"
#include "service/key_table.hpp"

namespace looptask::service {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(tests::source_dir() + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(manual, has_the_table_of_keys) {
  const std::string text = text_of("docs/configuration.md");
  const auto begin = text.find('\n', text.find("<!-- keys:"));
  const auto end = text.find("<!-- end of keys -->");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(text.substr(begin + 1, end - begin - 1), key_table_as_markdown());
}

// Reads every example of a text as a whole file of configuration; returns how many there were.
int read_examples(const std::string& path) {
  const std::string text = text_of(path);
  int examples = 0;
  for (auto begin = text.find("```toml\n"); begin != std::string::npos; begin = text.find("```toml\n", begin + 1)) {
    const auto from = begin + 8;
    const std::string example = text.substr(from, text.find("```", from) - from);
    for (const auto& p : read_configuration(example, path, "/srv").errors) ADD_FAILURE() << p.to_string() << "\n" << example;
    ++examples;
  }
  return examples;
}

TEST(manual, its_examples_are_good_files) {
  EXPECT_GE(read_examples("docs/configuration.md"), 4);
  EXPECT_GE(read_examples("README.md"), 1);
}

}  // namespace
}  // namespace looptask::service
