#include "service/key_part.hpp"

#include <gtest/gtest.h>

namespace looptask::service {
namespace {

TEST(key_part, is_written_as_toml_does) {
  EXPECT_EQ(key_part("kill_after-2"), "kill_after-2");
  EXPECT_EQ(key_part("a.b"), "\"a.b\"");
  EXPECT_EQ(key_part(""), "\"\"");
}

}  // namespace
}  // namespace looptask::service
