// The engine's view of time over a host whose readings do not come at once.
#include "engine/clocks.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace looptask::engine {
namespace {

constexpr instant wall0{std::chrono::seconds(1735689600)};

// Time goes by between one reading and the next, as when the thread is held up there.
class slow_clock final : public clock_port {
 public:
  mutable std::deque<microseconds> held_up;  // after each reading to come
  microseconds always{0};                    // once these are used up
  microseconds set_by{0};                    // how far the wall clock was set

  monotonic_time monotonic() const noexcept override { return monotonic_time(read()); }
  duration boot() const noexcept override { return read(); }
  instant wall() const noexcept override { return wall0 + set_by + read(); }
  std::string boot_id() const override { return "boot"; }
  void on_wall_step(unique_function<void()>) override {}

 private:
  microseconds read() const {
    const microseconds now = now_;
    if (held_up.empty()) {
      now_ += always;
    } else {
      now_ += held_up.front();
      held_up.pop_front();
    }
    return now;
  }
  mutable microseconds now_{0};
};

constexpr microseconds ms(std::int64_t count) { return std::chrono::milliseconds(count); }

TEST(Clocks, AThreadThatIsHeldUpBetweenTwoReadingsIsNoStepOfTheWallClock) {
  for (std::size_t place = 0; place < 4; ++place) {
    slow_clock port;
    clocks c(port);
    c.begin(std::nullopt, std::nullopt);
    for (std::size_t reading = 0; reading < 4; ++reading) port.held_up.push_back(reading == place ? ms(300) : ms(0));
    EXPECT_FALSE(c.step_since_last(c.now(), false)) << place;
    EXPECT_FALSE(c.step_since_last(c.now(), false)) << place;
  }
}

TEST(Clocks, NorIsOneThatIsHeldUpAtTheBeginning) {
  slow_clock port;
  port.held_up = {ms(300)};
  clocks c(port);
  c.begin(std::nullopt, std::nullopt);
  EXPECT_FALSE(c.step_since_last(c.now(), false));
}

TEST(Clocks, AStepIsStillFound) {
  slow_clock port;
  clocks c(port);
  c.begin(std::nullopt, std::nullopt);
  port.held_up = {ms(300)};
  port.set_by = ms(5000);
  const auto step = c.step_since_last(c.now(), false);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->after - step->before, ms(5000));
}

TEST(Clocks, OnAMachineThatIsAlwaysSlowTheClosestReadingCounts) {
  slow_clock port;
  port.always = ms(1);
  clocks c(port);
  c.begin(std::nullopt, std::nullopt);
  EXPECT_FALSE(c.step_since_last(c.now(), false));
}

}  // namespace
}  // namespace looptask::engine
