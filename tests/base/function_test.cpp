#include <looptask/function.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace looptask {
namespace {

TEST(UniqueFunction, CallsASmallMoveOnlyCallable) {
  auto owned = std::make_unique<int>(41);
  unique_function<int(int)> add = [owned = std::move(owned)](int more) { return *owned + more; };
  EXPECT_EQ(add(1), 42);
}

TEST(UniqueFunction, MovesACallableThatLivesOnTheHeap) {
  std::array<long, 16> big{};
  big[15] = 7;
  unique_function<long()> first = [big] { return big[15]; };
  unique_function<long()> second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second(), 7);
}

TEST(UniqueFunction, DestroysItsCallableExactlyOnce) {
  auto shared = std::make_shared<int>(0);
  {
    unique_function<void()> a = [shared] {};
    unique_function<void()> b = std::move(a);
    EXPECT_EQ(shared.use_count(), 2);
    b = nullptr;
    EXPECT_EQ(shared.use_count(), 1);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(UniqueFunction, OfNoResultDropsThatOfItsCallable) {
  int calls = 0;
  unique_function<void()> small = [&calls] { return ++calls; };
  std::array<long, 16> big{};
  unique_function<void()> large = [&calls, big] { return calls += static_cast<int>(big.size()); };
  small();
  large();
  EXPECT_EQ(calls, 17);
}

TEST(UniqueFunctionDeathTest, CallOfAnEmptyOneIsMisuse) {
  unique_function<void()> empty;
  EXPECT_DEATH(empty(), "empty unique_function");
}

}  // namespace
}  // namespace looptask
