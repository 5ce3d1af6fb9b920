#include "base/nearest_name.hpp"

#include <gtest/gtest.h>

namespace looptask {
namespace {

constexpr std::array<std::string_view, 5> names{"timeout", "timezone", "run", "kill_after", "env"};

TEST(nearest_name, finds_a_changed_missing_added_or_swapped_letter) {
  EXPECT_EQ(nearest_name("timeput", names), "timeout");
  EXPECT_EQ(nearest_name("timout", names), "timeout");
  EXPECT_EQ(nearest_name("timeoutt", names), "timeout");
  EXPECT_EQ(nearest_name("tiemout", names), "timeout");
  EXPECT_EQ(nearest_name("KillAfter", names), "kill_after");
}

TEST(nearest_name, says_nothing_when_nothing_is_near) {
  EXPECT_EQ(nearest_name("colour", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100, 'x'), names), std::nullopt);
  EXPECT_EQ(nearest_name("run", {}), std::nullopt);
}

TEST(nearest_name, prefers_the_nearer_and_then_the_first) {
  EXPECT_EQ(nearest_name("timezome", names), "timezone");
  constexpr std::array<std::string_view, 2> equal{"ab", "ac"};
  EXPECT_EQ(nearest_name("ad", equal), "ab");
}

}  // namespace
}  // namespace looptask
