#include "service/text_table.hpp"

#include <gtest/gtest.h>

namespace looptask::service {
namespace {

class TextTable : public testing::Test {
 protected:
  std::string out;
  text_table::line_sink sink = [this](std::string_view line) {
    out += line;
    return true;
  };
};

TEST_F(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  text_table table({{"A"}, {"NUMBER", text_table::right}, {"LAST"}}, std::move(sink));
  table.add({"wide", "7", ""});
  table.add({"x", "1234567", "end"});
  table.finish();
  EXPECT_EQ(out,
            "A      NUMBER  LAST\n"
            "wide        7\n"
            "x     1234567  end\n");
}

TEST_F(TextTable, WithoutRowsItIsItsTitles) {
  text_table table({{"A"}, {"B"}}, std::move(sink));
  table.finish();
  table.finish();
  EXPECT_EQ(out, "A  B\n");
}

TEST_F(TextTable, ACellStaysOnItsLineAndCannotSteerTheTerminal) {
  text_table table({{"A"}, {"B"}}, std::move(sink));
  table.add({"a\nb\tc", "\x1b[31mred\x7f"});
  table.finish();
  EXPECT_EQ(out, "A        B\na\\nb\\tc  \\u001B[31mred\\u007F\n");
}

TEST_F(TextTable, ACharacterOfSeveralBytesIsOneColumn) {
  text_table table({{"A"}, {"B"}}, std::move(sink));
  table.add({"ü", "1"});
  table.add({"xy", "2"});
  table.finish();
  EXPECT_EQ(out, "A   B\nü   1\nxy  2\n");
}

TEST_F(TextTable, ALongTableIsWrittenWhileItGrows) {
  text_table table({{"A"}}, std::move(sink));
  for (int i = 0; i < 5000; ++i) table.add({"row"});
  EXPECT_GT(out.size(), 10'000U);
  table.finish();
  EXPECT_EQ(out.size(), 2 + 5000 * 4U);
}

TEST(TextTableEnd, ItSaysWhenNobodyReadsAnyMore) {
  int lines = 0;
  text_table table({{"A"}}, [&lines](std::string_view) { return ++lines < 3; });
  EXPECT_TRUE(table.add({"1"}));
  EXPECT_TRUE(table.add({"2"}));
  EXPECT_FALSE(table.finish());
  EXPECT_EQ(lines, 3);
}

TEST(TextTableDeathTest, ARowOfAnotherLengthIsMisuse) {
  text_table table({{"A"}}, [](std::string_view) { return true; });
  EXPECT_DEATH(table.add({"1", "2"}), "as many cells");
}

}  // namespace
}  // namespace looptask::service
