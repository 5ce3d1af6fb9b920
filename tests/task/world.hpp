#pragma once
// A loop in virtual time for tests of tasks: every test ends with as many live frames as it began with.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <looptask/looptask.hpp>

#include "sim/world.hpp"

// ASSERT_* returns, which a coroutine cannot; a requirement that fails ends the task instead.
#define LT_REQUIRE(condition)                         \
  do {                                                \
    if (!(condition)) {                               \
      ADD_FAILURE() << "requirement: " << #condition; \
      throw std::runtime_error(#condition);           \
    }                                                 \
  } while (false)

namespace looptask {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct in_a_world : testing::Test {
  std::int64_t before = memory_pool::live();
  sim::world world{1};
  std::unique_ptr<looptask::loop> owned = std::make_unique<looptask::loop>(world);
  looptask::loop& loop = *owned;
  std::vector<std::string> order;

  duration now() const { return world.now(); }
  void note(std::string what) { order.push_back(std::move(what)); }
  void TearDown() override {
    owned.reset();
    EXPECT_EQ(memory_pool::live(), before) << "frames left over";
  }
};

using words = std::vector<std::string>;

}  // namespace looptask
