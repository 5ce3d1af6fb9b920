// The programs and the file that the first minutes with LoopTask are made of.
#include <gtest/gtest.h>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include <csignal>
#include <string>

#include "process/child_recorder.hpp"
#include "process/scratch.hpp"
#include "source_tree.hpp"

namespace looptask {
namespace {

class Examples : public testing::Test {
 protected:
  std::string program(const std::string& name) const { return tests::binary_dir() + "/" + name; }
  // The exit code; what was printed is in `child`.
  int run(child_recorder& child, std::vector<std::string> argv) {
    child.spawn(std::move(argv), {"PATH=/usr/bin:/bin"}, folder.path());
    child.run_to_exit();
    return child.exit ? child.exit->code.value_or(-1) : -1;
  }

  const scratch folder;
  real_host host;
  loop events{host};
  child_recorder server{events};
  child_recorder client{events};
};

TEST_F(Examples, TheQuickstartHasNoErrorAndNoWarning) {
  EXPECT_EQ(run(client, {program("looptask"), "check", "--strict", tests::source_dir() + "/examples/quickstart.toml"}), 0)
      << client.output;
}

TEST_F(Examples, TheClientFetchesAPageFromTheServer) {
  server.spawn({program("examples/page-server"), "made/port", "1"}, {}, folder.path());
  server.run_until([&] { return server.output.ends_with("\n"); });
  EXPECT_EQ(run(client, {program("examples/fetch-page"), "made/port"}), 0) << client.output;
  EXPECT_NE(client.output.find("bytes: HTTP/1.0 200 OK"), std::string::npos) << client.output;
  server.run_to_exit();  // one page was all it had
  EXPECT_EQ(server.exit->code, 0);
}

TEST_F(Examples, TheClientFailsWhenNobodyServes) {
  EXPECT_EQ(run(client, {program("examples/fetch-page"), "made/port"}), 1);
  EXPECT_EQ(client.output, "fetch-page: no port in made/port: the server has not been up yet\n");
}

TEST_F(Examples, TheServerEndsWellWhenItIsToldTo) {
  server.spawn({program("examples/page-server"), "port", "1"}, {}, folder.path());
  server.run_until([&] { return server.output.ends_with("\n"); });
  server.child->signal_group(SIGTERM);
  server.run_to_exit();
  EXPECT_EQ(server.exit->code, 0);
  child_recorder late(events);
  EXPECT_EQ(run(late, {program("examples/fetch-page"), "port"}), 1);
  EXPECT_NE(late.output.find("Connection refused"), std::string::npos) << late.output;
}

}  // namespace
}  // namespace looptask
