#include "service/byte_size.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <utility>

namespace looptask::service {
namespace {

TEST(byte_size, reads_a_number_with_a_unit) {
  const std::pair<const char*, std::int64_t> table[] = {{"0B", 0},
                                                        {"1B", 1},
                                                        {"256KiB", 262144},
                                                        {"10MB", 10000000},
                                                        {"1GiB", 1073741824},
                                                        {"3TB", 3000000000000},
                                                        {"1024TiB", 1125899906842624}};
  for (const auto& [text, value] : table) {
    const auto parsed = parse_size(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.message();
    EXPECT_EQ(parsed.value(), value) << text;
  }
}

TEST(byte_size, refuses_everything_else) {
  for (const char* text :
       {"", "256", "KiB", "-1B", "1.5MiB", "1 MiB", "1kib", "1KiBx", "1025TiB", "99999999999999999999B", "1MiB1KiB"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.message().find("write for example \"256KiB\""), std::string::npos) << parsed.message();
  }
}

TEST(byte_size, what_is_printed_reads_as_the_same) {
  rc::check([] {
    const auto value = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50);
    const auto parsed = parse_size(print_size(value));
    RC_ASSERT(bool(parsed));
    RC_ASSERT(parsed.value() == value);
  });
}

}  // namespace
}  // namespace looptask::service
