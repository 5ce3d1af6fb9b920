#include "base/printable.hpp"

#include <gtest/gtest.h>

#include "base/utf8.hpp"

namespace looptask {
namespace {

TEST(printable, leaves_text_alone) {
  for (const char* text : {"", "plain", "Z\xC3\xBCrich", "\xE2\x82\xAC 5", "\xF0\x9F\x98\x80", "back\\slash \"quote\""})
    EXPECT_EQ(printable(text), text);
}

TEST(printable, shows_what_a_terminal_would_obey) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\u000Dd");
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "\\u001B[31mred\\u007F");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m \xC2\x80 \xC2\x9F \xC2\xA0"),
            "\\u009B31m \\u0080 \\u009F \xC2\xA0");
  EXPECT_EQ(printable("\xE2\x80\xAE"
                      "evil\xE2\x80\xAC \xE2\x81\xA6 \xE2\x80\x8F \xD8\x9C \xE2\x80\xA8"),
            "\\u202Eevil\\u202C \\u2066 \\u200F \\u061C \\u2028");
}

TEST(printable, shows_bytes_that_are_no_character) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9B31m");
  EXPECT_EQ(printable("\x80\x9f\xff"), "\\x80\\x9F\\xFF");
  EXPECT_EQ(printable("cut \xE2\x82"), "cut \\xE2\\x82");
  EXPECT_EQ(printable("\xC0\x9B \xED\xA0\x80"), "\\xC0\\x9B \\xED\\xA0\\x80");  // too long; a surrogate
}

TEST(in_quotes, keeps_a_message_on_one_line) {
  EXPECT_EQ(in_quotes("a\nb\tc\x01\x7F"), R"("a\nb\tc\u0001\u007F")");
  EXPECT_EQ(in_quotes(R"(say "hi" \ )"), R"("say \"hi\" \\ ")");
  EXPECT_EQ(in_quotes("5\xC3\xBC\xFC"), "\"5\xC3\xBC\\xFC\"");
}

TEST(in_quotes, cuts_long_text_between_characters) {
  EXPECT_EQ(in_quotes(std::string(80, 'x')), "\"" + std::string(80, 'x') + "\"");
  EXPECT_EQ(in_quotes(std::string(81, 'x')), "\"" + std::string(80, 'x') + "...\"");
  std::string cut_inside(79, 'x');
  cut_inside += "\xC3\xA9z";
  EXPECT_EQ(in_quotes(cut_inside), "\"" + std::string(79, 'x') + "...\"");
}

TEST(utf8, knows_the_first_and_last_of_each_length) {
  const std::tuple<const char*, std::size_t, char32_t> table[] = {{"\x7F", 1, 0x7F},
                                                                  {"\xC2\x80", 2, 0x80},
                                                                  {"\xDF\xBF", 2, 0x7FF},
                                                                  {"\xE0\xA0\x80", 3, 0x800},
                                                                  {"\xED\x9F\xBF", 3, 0xD7FF},
                                                                  {"\xEE\x80\x80", 3, 0xE000},
                                                                  {"\xEF\xBF\xBF", 3, 0xFFFF},
                                                                  {"\xF0\x90\x80\x80", 4, 0x10000},
                                                                  {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF}};
  for (const auto& [text, bytes, code] : table) {
    EXPECT_EQ(first_character(text).bytes, bytes) << text;
    EXPECT_EQ(first_character(text).code, code) << text;
  }
  for (const char* text : {"", "\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\xC2"})
    EXPECT_EQ(first_character(text).bytes, 0U) << text;
}

}  // namespace
}  // namespace looptask
