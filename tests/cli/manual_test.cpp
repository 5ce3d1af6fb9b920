// What the manual shows is what the program says: each ```console block of docs/cron.md is run and its stdout compared.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "source_tree.hpp"

namespace looptask::cli {
namespace {

std::string output_of(const std::string& command) {
  const std::string line = "PATH='" + tests::binary_dir() + "':$PATH; (" + command + ") 2>/dev/null";
  std::FILE* pipe = ::popen(line.c_str(), "r");
  std::string out;
  std::array<char, 4096> part{};
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) out.append(part.data(), n);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return out;
}

TEST(manual, examples_of_cron_show_what_the_program_says) {
  std::ifstream manual(tests::source_dir() + "/docs/cron.md");
  std::string line;
  int examples = 0;
  while (std::getline(manual, line)) {
    if (line != "```console") continue;
    ASSERT_TRUE(std::getline(manual, line) && line.starts_with("$ ")) << line;
    const std::string command = line.substr(2);
    std::string shown;
    while (std::getline(manual, line) && line != "```") shown += line + '\n';
    EXPECT_EQ(output_of(command), shown) << command;
    ++examples;
  }
  EXPECT_EQ(examples, 2);
}

}  // namespace
}  // namespace looptask::cli
