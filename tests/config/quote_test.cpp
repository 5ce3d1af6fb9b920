#include "service/quote.hpp"

#include <gtest/gtest.h>

namespace looptask::service {
namespace {

TEST(quote, keeps_a_message_on_one_line) {
  EXPECT_EQ(in_quotes("a\nb\tc\x01\x7F"), R"("a\nb\tc\u0001\u007F")");
  EXPECT_EQ(in_quotes(R"(say "hi" \ )"), R"("say \"hi\" \\ ")");
}

TEST(quote, cuts_long_text_between_characters) {
  EXPECT_EQ(in_quotes(std::string(80, 'x')), "\"" + std::string(80, 'x') + "\"");
  EXPECT_EQ(in_quotes(std::string(81, 'x')), "\"" + std::string(80, 'x') + "...\"");
  std::string cut_inside(79, 'x');
  cut_inside += "\xC3\xA9z";
  EXPECT_EQ(in_quotes(cut_inside), "\"" + std::string(79, 'x') + "...\"");
}

TEST(quote, writes_parts_of_keys_as_toml_does) {
  EXPECT_EQ(key_part("kill_after-2"), "kill_after-2");
  EXPECT_EQ(key_part("a.b"), "\"a.b\"");
  EXPECT_EQ(key_part(""), "\"\"");
}

}  // namespace
}  // namespace looptask::service
