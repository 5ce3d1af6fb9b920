// How long an output may stay open after the main process has ended: to the microsecond, in virtual time.
#include <gtest/gtest.h>

#include <looptask/loop.hpp>

#include <chrono>

#include "jobs/attempt_recorder.hpp"
#include "jobs/command.hpp"
#include "sim/world.hpp"

namespace looptask::jobs {
namespace {

using namespace std::chrono_literals;

class CommandDrain : public testing::Test {
 protected:
  engine::attempt_end run(sim::program what) {
    world.program("job", std::move(what));
    command_options options;
    options.argv = {"job"};
    options.workdir = "/";
    const auto body = make_command(events, std::move(options));
    return recorder.run(*body);
  }

  sim::world world{1};
  loop events{world};
  attempt_recorder recorder{events};
};

TEST_F(CommandDrain, WhoHoldsTheOutputLongerIsKilledAfterTwoSeconds) {
  const auto how = run({.takes = 100ms, .output = {{0s, "a"}, {2s, "b"}, {3s, "never"}}, .children = {{.takes = 1000s}}});
  EXPECT_EQ(world.now(), 2100ms);
  EXPECT_EQ(how.ended, world.reading_at(100ms)) << "the work itself was over when the main process was";
  EXPECT_EQ(how.result, run_result::success);
  EXPECT_TRUE(how.leftover_killed);
  EXPECT_EQ(std::string(how.output_head), "ab");
}

TEST_F(CommandDrain, WhoLetsGoOfItIsNotWaitedForLonger) {
  const auto how = run({.takes = 100ms, .children = {{.takes = 600ms}}});
  EXPECT_EQ(world.now(), 600ms);
  EXPECT_EQ(how.result, run_result::success);
  EXPECT_FALSE(how.leftover_killed);
}

TEST_F(CommandDrain, WithoutAHolderNothingIsWaitedFor) {
  run({.takes = 100ms});
  EXPECT_EQ(world.now(), 100ms);
}

}  // namespace
}  // namespace looptask::jobs
