// examples/pipeline.cpp: what it says about itself at the end.
#include <gtest/gtest.h>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include <string>
#include <vector>

#include "process/child_recorder.hpp"
#include "process/scratch.hpp"
#include "source_tree.hpp"

namespace looptask {
namespace {

class Pipeline : public testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), tests::binary_dir() + "/examples/pipeline");
    child.spawn(std::move(arguments), {}, folder.path());
    child.run_to_exit();
    return child.exit ? child.exit->code.value_or(-1) : -1;
  }
  bool said(const std::string& what) const { return child.output.find(what) != std::string::npos; }

  const scratch folder;
  real_host host;
  loop events{host};
  child_recorder child{events};
};

TEST_F(Pipeline, ASlowLastStageHoldsUpTheFirstAndNoQueueExceedsItsBound) {
  ASSERT_EQ(run({"100", "4", "3"}), 0) << child.output;
  EXPECT_TRUE(said("numbers: 100 passed, at most 3 held of 3, the sender waited ")) << child.output;
  EXPECT_TRUE(said("results: 100 passed, at most 3 held of 3, the sender waited ")) << child.output;
  EXPECT_FALSE(said("waited 0 times")) << child.output;
  EXPECT_TRUE(said("written: 100 results; 97 needs the most steps, 118\n")) << child.output;
}

TEST_F(Pipeline, RunsWithoutAnyCapacity) {
  ASSERT_EQ(run({"10", "2", "0"}), 0) << child.output;
  EXPECT_TRUE(said("numbers: 10 passed, at most 0 held of 0")) << child.output;
  EXPECT_TRUE(said("written: 10 results; 9 needs the most steps, 19\n")) << child.output;
}

TEST_F(Pipeline, EndsAtOnceWithNothingToDo) {
  ASSERT_EQ(run({"0"}), 0) << child.output;
  EXPECT_TRUE(said("numbers: 0 passed, at most 0 held of 8")) << child.output;
}

TEST_F(Pipeline, SaysWhatIsWrongWhenNobodyWouldWork) {
  EXPECT_EQ(run({"10", "0"}), 2);
  EXPECT_TRUE(said("AT_ONCE is 0")) << child.output;
}

}  // namespace
}  // namespace looptask
