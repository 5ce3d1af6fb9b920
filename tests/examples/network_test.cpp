// The examples that show connections.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <looptask/looptask.hpp>

#include "process/child_recorder.hpp"
#include "process/scratch.hpp"
#include "source_tree.hpp"

namespace looptask {
namespace {

class NetworkExamples : public testing::Test {
 protected:
  static std::string program(const std::string& name) { return tests::binary_dir() + "/examples/" + name; }
  // Starts a server, and gives the address that it prints last in its first line.
  endpoint start(std::vector<std::string> argv) {
    server.spawn(std::move(argv), {}, folder.path());
    server.run_until([&] { return server.output.ends_with("\n"); });
    const std::string line = server.output.substr(0, server.output.find('\n'));
    return endpoint::parse(line.substr(line.rfind(' ') + 1)).value();
  }
  void run(child_recorder& child, std::vector<std::string> argv) {
    child.spawn(std::move(argv), {}, folder.path());
    child.run_to_exit();
  }
  std::string exchange(stream& with, const std::string& line) {
    auto asks = [](stream& to, std::string what) -> task<std::string> {
      co_await to.write_all(what);
      reader in(to);
      co_return co_await in.read_until("\n");
    };
    return events.run(asks(with, line));
  }

  const scratch folder;
  real_host host;
  loop events{host};
  child_recorder server{events};
  child_recorder client{events};
};

TEST_F(NetworkExamples, TheEchoServerLetsConnectionsFinishWhenItIsToldToEnd) {
  const endpoint at = start({program("echo-server"), "127.0.0.1:0", "60000"});
  stream guest = events.run(connect(at));
  EXPECT_EQ(exchange(guest, "hello\n"), "hello\n");
  server.child->signal_group(SIGTERM);
  // It listens no more, and goes on with who is there.
  const auto refused = [&] {
    try {
      events.run(connect(at));
      return false;
    } catch (const std::system_error& error) {
      return error.code().value() == ECONNREFUSED;
    }
  };
  while (!refused()) {
  }
  EXPECT_EQ(exchange(guest, "still here\n"), "still here\n");
  EXPECT_FALSE(server.exit);
  guest.close();
  server.run_to_exit();
  EXPECT_EQ(server.exit->code, 0);
  EXPECT_TRUE(server.output.ends_with("\nall have left\n")) << server.output;
}

TEST_F(NetworkExamples, TheEchoServerCutsOffWhoStaysTooLong) {
  const endpoint at = start({program("echo-server"), "unix:door.sock", "1"});
  stream guest = events.run(connect(endpoint::path(folder.path(at.name()))));
  EXPECT_EQ(exchange(guest, "hello\n"), "hello\n");
  server.child->signal_group(SIGTERM);
  server.run_to_exit();
  EXPECT_EQ(server.exit->code, 0);
  EXPECT_TRUE(server.output.ends_with("\nthe rest were cut off\n")) << server.output;
  EXPECT_FALSE(std::filesystem::exists(folder.path("door.sock")));
}

TEST_F(NetworkExamples, TheCrawlerHasNoMorePagesOnTheirWayThanAllowed) {
  const endpoint at = start({program("page-server"), "port", "40"});
  run(client, {program("crawler"), at.text(), "40", "4"});
  EXPECT_EQ(client.exit->code, 0) << client.output;
  EXPECT_EQ(client.output, "40 pages, 0 failed, at most 4 at once\n");
  server.run_to_exit();
  EXPECT_EQ(server.exit->code, 0);
}

TEST_F(NetworkExamples, TheCrawlerSaysWhatDidNotCome) {
  endpoint at;
  {
    const listener door = listen(events, endpoint::loopback(0));
    at = door.local();
  }
  run(client, {program("crawler"), at.text(), "2", "1"});
  EXPECT_EQ(client.exit->code, 1);
  EXPECT_EQ(client.output, "connect " + at.text() + ": Connection refused\nconnect " + at.text() +
                               ": Connection refused\n0 pages, 2 failed, at most 1 at once\n");
}

TEST_F(NetworkExamples, OnlyBrokenConnectionsAreConnectedAnew) {
  run(client, {program("watch-connections"), "200", "3", "200", "5"});
  EXPECT_EQ(client.exit->code, 0) << client.output;
  EXPECT_TRUE(client.output.starts_with("200 of 200 broken\n")) << client.output;  // none is there yet
  EXPECT_NE(client.output.find("\n3 of 200 broken\n"), std::string::npos) << client.output;
  EXPECT_TRUE(client.output.ends_with("\n0 of 200 broken\n")) << client.output;
}

}  // namespace
}  // namespace looptask
