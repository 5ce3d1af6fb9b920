#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "service/duration_words.hpp"
#include "service/lateness_histogram.hpp"

namespace looptask::service {
namespace {

using namespace std::chrono_literals;

TEST(LatenessHistogram, WithoutValuesThereIsNoQuantile) {
  const lateness_histogram none;
  EXPECT_EQ(none.quantile(0.5), std::nullopt);
  EXPECT_EQ(none.count(), 0U);
}

TEST(LatenessHistogram, AQuantileIsTheSmallestValueThatEnoughDidNotExceed) {
  lateness_histogram late;
  for (int i = 1; i <= 100; ++i) late.add(microseconds(i));
  EXPECT_EQ(late.quantile(0.01), 1us);
  EXPECT_EQ(late.quantile(0.5), 50us);
  EXPECT_EQ(late.quantile(0.99), 99us);
  EXPECT_EQ(late.quantile(1), 100us);
}

TEST(LatenessHistogram, OfFewValuesEachIsExact) {
  lateness_histogram late;
  late.add(21'297'600s);
  EXPECT_EQ(late.quantile(0.5), 21'297'600s);
  late.add(11'234us);
  EXPECT_EQ(late.quantile(0.5), 11'234us);
  EXPECT_EQ(late.quantile(0.99), 21'297'600s);
}

TEST(LatenessHistogram, EarlyCountsAsOnTime) {
  lateness_histogram late;
  late.add(-5s);
  EXPECT_EQ(late.quantile(1), 0us);
}

TEST(LatenessHistogram, HoldsTheWidestValues) {
  lateness_histogram late;
  late.add(microseconds::max());
  EXPECT_EQ(late.quantile(1), microseconds::max());
}

TEST(LatenessHistogram, ASumIsAsIfAllHadBeenAddedToOne) {
  lateness_histogram left;
  lateness_histogram right;
  left.add(1us);
  right.add(2us);
  right.add(3us);
  left.add(right);
  EXPECT_EQ(left.count(), 3U);
  EXPECT_EQ(left.quantile(0.5), 2us);
}

RC_GTEST_PROP(LatenessHistogram, IsWithinItsPrecisionOfTheTrueQuantile, ()) {
  auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 40), rc::gen::inRange<std::int64_t>(0, 1'000'000)),
                   [](auto p) { return (p.second << p.first) >> 20; })));
  const double part = *rc::gen::element(0.5, 0.9, 0.99, 1.0);
  lateness_histogram late;
  for (const std::int64_t v : values) late.add(microseconds(v));
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  const std::int64_t exact = values[rank - 1];
  const std::int64_t told = late.quantile(part)->count();
  RC_ASSERT(told >= exact);
  RC_ASSERT(told <= exact + exact / 128);
}

TEST(DurationWords, ShowThreeDigitsThatMatter) {
  const std::pair<microseconds, const char*> cases[] = {
      {0us, "0us"},        {999us, "999us"},    {1'234us, "1.23ms"}, {12'345us, "12.3ms"},  {999'999us, "999ms"},
      {1s, "1.00s"},       {59'999ms, "59.9s"}, {60s, "1m00s"},      {3599s, "59m59s"},     {3600s, "1h00m"},
      {86'399s, "23h59m"}, {50h, "2d02h"},      {-2ms, "-2.00ms"},   {1'005'000us, "1.00s"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(duration_words(value), text) << value.count();
  EXPECT_EQ(duration_words(microseconds::min()).front(), '-');
}

}  // namespace
}  // namespace looptask::service
