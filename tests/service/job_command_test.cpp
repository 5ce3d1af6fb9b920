#include "service/job_command.hpp"

#include <gtest/gtest.h>

namespace looptask::service {
namespace {

const std::vector<std::string> environment{"HOME=/home/x", "HTTP_PROXY=p", "HTTPS_PROXY=q", "AWS_KEY=k", "EMPTY="};

TEST(job_command, inherits_what_names_and_globs_say) {
  EXPECT_EQ(inherited({}, environment), std::vector<std::string>{});
  EXPECT_EQ(inherited({"EMPTY", "AWS_KEY"}, environment), (std::vector<std::string>{"AWS_KEY=k", "EMPTY="}));
  EXPECT_EQ(inherited({"HTTP*_PROXY"}, environment), (std::vector<std::string>{"HTTP_PROXY=p", "HTTPS_PROXY=q"}));
  EXPECT_EQ(inherited({"AWS_KE?", "AWS_*"}, environment), std::vector<std::string>{"AWS_KEY=k"});
  EXPECT_EQ(inherited({"aws_key", "AWS"}, environment), std::vector<std::string>{});
}

TEST(job_command, carries_what_the_configuration_says) {
  const auto loaded = read_configuration(
      "[history]\noutput_limit = \"1KiB\"\n[job.a]\nshell = \"x y\"\nworkdir = \"sub\"\nenv = { A = \"${env:HOME}\" }\n"
      "env_inherit = [\"AWS_*\"]\nkill_after = \"1s\"\nsuccess_codes = [4]\nstop_signal = \"SIGINT\"\ntimezone = "
      "\"Asia/Shanghai\"\n",
      "f", "/srv");
  ASSERT_TRUE(loaded.value);
  const auto options = command_of(loaded.value->jobs.at(0), *loaded.value, environment);
  EXPECT_EQ(options.argv, (std::vector<std::string>{"/bin/sh", "-c", "x y"}));
  EXPECT_EQ(options.workdir, "/srv/sub");
  EXPECT_EQ(options.home, "/home/x");
  EXPECT_EQ(options.inherited, std::vector<std::string>{"AWS_KEY=k"});
  EXPECT_EQ(options.env.size(), 1U);
  EXPECT_EQ(options.sources.environment, environment);
  EXPECT_EQ(options.sources.folder, "/srv");
  EXPECT_EQ(options.sources.zone.name(), "Asia/Shanghai");
  EXPECT_EQ(options.stop_signal, SIGINT);
  EXPECT_EQ(options.kill_after, std::chrono::seconds(1));
  EXPECT_EQ(options.success_codes, std::vector<int>{4});
  EXPECT_EQ(options.output_limit, 1024U);
}

}  // namespace
}  // namespace looptask::service
