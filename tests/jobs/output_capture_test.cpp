#include "jobs/output_capture.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace looptask::jobs {
namespace {

std::string text_of(const std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  return all;
}

output_capture capture(std::size_t limit, const std::vector<std::string>& pieces) {
  output_capture kept(limit);
  for (const std::string& piece : pieces) kept.append(piece);
  return kept;
}

TEST(OutputCapture, KeepsTheBeginningAndTheEnd) {
  const output_capture kept = capture(6, {"abcdef", "ghij"});
  EXPECT_EQ(kept.head(), "abc");
  EXPECT_EQ(kept.tail(), "hij");
  EXPECT_EQ(kept.dropped(), 4U);
  EXPECT_EQ(kept.total(), 10U);
}

TEST(OutputCapture, DropsNothingThatFits) {
  const output_capture kept = capture(7, {"abc", "defg"});
  EXPECT_EQ(kept.head() + kept.tail(), "abcdefg");
  EXPECT_EQ(kept.dropped(), 0U);
}

TEST(OutputCapture, ALimitOfNothingCountsEverything) {
  const output_capture kept = capture(0, {"abc", "d"});
  EXPECT_EQ(kept.head() + kept.tail(), "");
  EXPECT_EQ(kept.dropped(), 4U);
}

TEST(OutputCapture, ALimitOfOneKeepsTheLastByte) {
  const output_capture kept = capture(1, {"abc", "d"});
  EXPECT_EQ(kept.head(), "");
  EXPECT_EQ(kept.tail(), "d");
}

TEST(OutputCapture, IsTakenWithoutACopy) {
  output_capture kept(2000);
  kept.append(std::string(1500, 'a') + std::string(1400, 'b') + "c");
  const char* const head = kept.head().data();
  const std::string tail = kept.tail();
  const output_capture::result all = std::move(kept).take();
  EXPECT_EQ(all.head.data(), head);
  EXPECT_EQ(all.head, std::string(1000, 'a'));
  EXPECT_EQ(all.tail, tail);
  EXPECT_EQ(all.dropped, 901U);
}

// In whatever pieces it comes: a prefix, a suffix, and a count of what lies between.
TEST(OutputCapture, HeadDroppedAndTailAreTheWhole) {
  EXPECT_TRUE(rc::check([] {
    const auto limit = *rc::gen::inRange<std::size_t>(0, 40);
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::scale(0.5, rc::gen::arbitrary<std::string>()));
    const std::string all = text_of(pieces);
    const output_capture kept = capture(limit, pieces);
    const std::string tail = kept.tail();
    RC_ASSERT(kept.head().size() + kept.dropped() + tail.size() == all.size());
    RC_ASSERT(kept.total() == all.size());
    RC_ASSERT(kept.head() == all.substr(0, kept.head().size()));
    RC_ASSERT(tail == all.substr(all.size() - tail.size()));
    RC_ASSERT(kept.head().size() + tail.size() == std::min(limit, all.size()));
  }));
}

TEST(OutputCapture, PiecesMakeNoDifference) {
  EXPECT_TRUE(rc::check([] {
    const auto limit = *rc::gen::inRange<std::size_t>(0, 40);
    const auto pieces = *rc::gen::arbitrary<std::vector<std::string>>();
    const output_capture in_pieces = capture(limit, pieces);
    const output_capture at_once = capture(limit, {text_of(pieces)});
    RC_ASSERT(in_pieces.head() == at_once.head());
    RC_ASSERT(in_pieces.tail() == at_once.tail());
    RC_ASSERT(in_pieces.dropped() == at_once.dropped());
  }));
}

}  // namespace
}  // namespace looptask::jobs
