#include <looptask/loop.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "sim/world.hpp"

namespace looptask {
namespace {

using std::chrono::seconds;

TEST(HostFailure, LeavesRunAndIsNotTakenForAnErrorOfACallback) {
  sim::world world(1);
  looptask::loop loop(world);
  bool reported = false;
  loop.on_error([&](std::exception_ptr) { reported = true; });
  world.crash_at(seconds(5));
  loop.call_later(seconds(9), [] {});
  EXPECT_THROW(loop.run(), sim::crash);
  EXPECT_FALSE(reported);
  EXPECT_EQ(world.now(), seconds(5));
}

TEST(HostFailure, LeavesALoopThatCanStillBeDestroyed) {
  sim::world world(1);
  {
    looptask::loop loop(world);
    const loop_hold forever = loop.hold();
    EXPECT_THROW(loop.run(), sim::deadlock);
  }
  looptask::loop next_life(world);
  next_life.run();
}

TEST(HostFailure, ErrorsOfWhatTheHostCallsGoToTheHandler) {
  sim::world world(1);
  looptask::loop loop(world);
  std::string seen;
  loop.on_error([&](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::runtime_error& e) {
      seen = e.what();
    }
  });
  world.call_at(seconds(1), [] { throw std::runtime_error("from a handler"); });
  loop.call_later(seconds(2), [] {});
  loop.run();
  EXPECT_EQ(seen, "from a handler");
  EXPECT_EQ(world.now(), seconds(2));
}

}  // namespace
}  // namespace looptask
