#include <looptask/process.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include <looptask/looptask.hpp>

#include "host/process_table.hpp"
#include "sim/world.hpp"

namespace looptask {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

process_spec named(std::string program) {
  return {.argv = {std::move(program)}, .env = {"PATH=/usr/bin:/bin"}, .workdir = "/"};
}
process_spec shell(std::string script) {
  return {.argv = {"sh", "-c", std::move(script)}, .env = {"PATH=/usr/bin:/bin"}, .workdir = "/"};
}

// Living members of a session.
std::ptrdiff_t members(std::int32_t session) {
  const auto all = list_processes();
  return std::count_if(all->begin(), all->end(),
                       [session](const process_entry& one) { return one.session == session && one.state != 'Z'; });
}

std::uint64_t written_by(std::int32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/io");
  std::string name;
  std::uint64_t bytes = 0;
  while (file >> name >> bytes) {
    if (name == "wchar:") return bytes;
  }
  return 0;
}

struct VirtualProcess : testing::Test {
  std::int64_t before = memory_pool::live();
  sim::world world{1};
  std::optional<looptask::loop> owned{std::in_place, world};
  looptask::loop& loop = *owned;
  void TearDown() override {
    owned.reset();
    EXPECT_EQ(memory_pool::live(), before);
  }
};

TEST_F(VirtualProcess, RunsToItsEnd) {
  world.program("job", {.takes = seconds(3), .exit_code = 4, .output = {{seconds(1), "one "}, {seconds(2), "two"}}});
  const process_result r = loop.run(run_process(named("job")));
  EXPECT_EQ(r.exit.code, 4);
  EXPECT_EQ(r.output, "one two");
  EXPECT_EQ(r.dropped, 0U);
  EXPECT_EQ(world.now(), seconds(3));
}

TEST_F(VirtualProcess, KeepsTheBeginningOfItsOutput) {
  world.program("job", {.takes = seconds(3), .output = {{seconds(1), "12345"}, {seconds(2), "6789"}}});
  const process_result r = loop.run(run_process(named("job"), 7));
  EXPECT_EQ(r.output, "1234567");
  EXPECT_EQ(r.dropped, 2U);
}

TEST_F(VirtualProcess, ThatCannotBeStartedIsAnErrorThatNamesTheStep) {
  try {
    loop.run(run_process(named("missing")));
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code().value(), ENOENT);
    EXPECT_NE(std::string(e.what()).find("exec missing"), std::string::npos);
  }
}

TEST_F(VirtualProcess, CancellationKillsItAndItsChildren) {
  world.program("job", {.takes = sim::for_ever, .on_signal = sim::reaction::ignores, .children = {{}, {}}});
  EXPECT_THROW(loop.run(with_timeout(seconds(5), run_process(named("job")))), timeout_error);
  EXPECT_TRUE(world.alive().empty());
  EXPECT_EQ(world.now(), seconds(5));
}

TEST_F(VirtualProcess, CancelledBeforeItWasStartedNothingIsLeft) {
  world.program("job", {.takes = sim::for_ever});
  EXPECT_FALSE(loop.run(move_on_at(loop.now(), run_process(named("job")))).has_value());
  EXPECT_TRUE(world.alive().empty());
}

TEST_F(VirtualProcess, NothingOfItOutlivesTheBody) {
  world.program("job", {.takes = seconds(1), .children = {{.takes = hours(1), .holds_output = false}}});
  auto body = [](process& child) -> task<int> {
    const process_exit how = co_await child.wait();
    co_return *how.code;
  };
  EXPECT_EQ(loop.run(with_process(named("job"), body)), 0);
  EXPECT_TRUE(world.alive().empty());
  EXPECT_EQ(world.now(), seconds(1));
}

TEST_F(VirtualProcess, AnExceptionOfTheBodyKillsItToo) {
  world.program("job", {.takes = sim::for_ever});
  auto body = [](process&) -> task<> {
    co_await sleep_for(seconds(1));
    throw std::runtime_error("body");
  };
  EXPECT_THROW(loop.run(with_process(named("job"), body)), std::runtime_error);
  EXPECT_TRUE(world.alive().empty());
}

TEST_F(VirtualProcess, ThatOutlivesTheKillIsAnErrorBesideThatOfTheBody) {
  world.program("job", {.takes = sim::for_ever, .outlives_kill = hours(1)});
  auto quiet = [](process&) -> task<> { co_return; };
  EXPECT_THROW(loop.run(with_process(named("job"), quiet)), std::runtime_error);
  auto body = [](process&) -> task<> {
    co_await sleep_for(seconds(1));
    throw std::logic_error("of the body");
  };
  try {
    loop.run(with_process(named("job"), body));
    FAIL();
  } catch (const aggregate_error& both) {
    ASSERT_EQ(both.errors().size(), 2U);
    EXPECT_THROW(std::rethrow_exception(both.errors().front()), std::logic_error);
    EXPECT_THROW(std::rethrow_exception(both.errors().back()), std::runtime_error);
  }
}

TEST_F(VirtualProcess, ThatOutlivesTheKillLeavesACancellationWhatItIs) {
  world.program("job", {.takes = sim::for_ever, .outlives_kill = hours(1)});
  int reported = 0;
  loop.on_error([&](std::exception_ptr) { ++reported; });
  EXPECT_THROW(loop.run(with_timeout(seconds(5), run_process(named("job")))), timeout_error);
  EXPECT_EQ(reported, 1);
}

TEST_F(VirtualProcess, ExitAndEndOfOutputAreTwoThings) {
  world.program("job", {.takes = seconds(1), .children = {{.takes = seconds(9)}}});
  auto body = [](process& child) -> task<> {
    static_cast<void>(co_await child.wait());
    const std::string end = co_await child.read();
    if (!end.empty()) throw std::logic_error("output from nowhere");
  };
  loop.run(with_process(named("job"), body));
  EXPECT_EQ(world.now(), seconds(9));
}

TEST_F(VirtualProcess, HeldOutputFollowsWhenItIsRead) {
  world.program("job", {.takes = seconds(3), .output = {{seconds(1), "aaaa"}, {seconds(2), "bbbb"}, {seconds(2), "cc"}}});
  auto body = [](process& child) -> task<std::string> {
    co_await sleep_for(seconds(10));
    std::string pieces;
    while (true) {
      const std::string bytes = co_await child.read();
      if (bytes.empty()) break;
      pieces += "[" + bytes + "]";
    }
    co_return pieces;
  };
  EXPECT_EQ(loop.run(with_process(named("job"), body, 4)), "[aaaa][bbbb][cc]");
}

TEST_F(VirtualProcess, SignalsReachIt) {
  world.program("job", {.takes = sim::for_ever, .on_signal = sim::reaction::dies});
  auto body = [](process& child) -> task<int> {
    child.signal(SIGTERM);
    const process_exit how = co_await child.wait();
    co_return *how.signal;
  };
  EXPECT_EQ(loop.run(with_process(named("job"), body)), SIGTERM);
}

TEST_F(VirtualProcess, ATaskWithOneThatIsDestroyedWithItsLoopTakesTheGroupAlong) {
  world.program("job", {.takes = sim::for_ever});
  spawn(loop, run_process(named("job")), [](outcome<process_result>) { FAIL(); });
  loop.call_later(seconds(1), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(world.alive().size(), 1U);
  owned.reset();
  EXPECT_TRUE(world.alive().empty());
}

struct RealProcess : testing::Test {
  real_host host;
  looptask::loop loop{host};
};

TEST_F(RealProcess, RunsToItsEnd) {
  const process_result r = loop.run(run_process(shell("echo out; echo err >&2; exit 3")));
  EXPECT_EQ(r.exit.code, 3);
  EXPECT_EQ(r.output, "out\nerr\n");
}

TEST_F(RealProcess, ThatCannotBeStartedIsAnError) {
  EXPECT_THROW(loop.run(run_process(named("/nowhere/to/be/found"))), std::system_error);
}

TEST_F(RealProcess, DoesNotInheritTheExactWaitsOfTheLoop) {
  EXPECT_EQ(loop.run(run_process(shell("cat /proc/self/timerslack_ns"))).output, "50000\n");
}

TEST_F(RealProcess, ManyAtOnce) {
  int ok = 0;
  loop.run(with_task_group([&ok](task_group& g) -> task<> {
    for (int i = 0; i < 20; ++i) {
      g.start([&ok]() -> task<> {
        process_spec spec = shell("echo x");
        const process_result r = co_await run_process(std::move(spec));
        if (r.exit.code == 0 && r.output == "x\n") ++ok;
      });
    }
    co_return;
  }));
  EXPECT_EQ(ok, 20);
}

TEST_F(RealProcess, CancellationKillsTheWholeSession) {
  cancel_scope scope(loop);
  outcome<> how;
  std::int32_t session = 0;
  std::ptrdiff_t before = 0;
  auto started = [](process& child, cancel_scope& s, std::int32_t& id, std::ptrdiff_t& living) -> task<> {
    const std::string ready = co_await child.read();
    id = child.identity().pid;
    living = members(id);
    s.cancel();
    co_await child.wait();
  };
  auto runs = [&](process& child) { return started(child, scope, session, before); };
  spawn(loop, scope, with_process(shell("trap '' TERM; (trap '' TERM; echo ready; sleep 1000) & wait"), runs),
        [&](outcome<> o) { how = std::move(o); });
  loop.run();
  EXPECT_THROW(std::move(how).get(), cancelled);
  EXPECT_GE(before, 2);
  EXPECT_EQ(members(session), 0);
}

TEST_F(RealProcess, ATreeLeavesNothingBehindThatHasLeftItsSession) {
  process_spec spec = shell("(setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' &)");
  spec.containment = containment_tier::tree;
  const process_result r = loop.run(run_process(std::move(spec)));
  EXPECT_EQ(r.exit.code, 0);
  EXPECT_GT(r.exit.max_rss, 0);
  ASSERT_GT(std::stoi(r.output), 1);
  EXPECT_EQ(::kill(std::stoi(r.output), 0), -1);
}

// The failure of the start is on its way when the task is cancelled: there is nobody to be killed.
TEST_F(RealProcess, CancelledWhileItsFailureComesItKillsNobody) {
  cancel_scope scope(loop);
  outcome<> how;
  auto body = [](process&) -> task<> { co_return; };
  spawn(loop, scope, with_process(named("/nowhere/to/be/found"), body), [&](outcome<> o) { how = std::move(o); });
  loop.call_soon([&] { loop.call_soon([&] { scope.cancel(); }); });
  loop.run();
  EXPECT_FALSE(how.ok());
}

// The program writes without end while nobody reads: it must block, and not fill our memory.
TEST_F(RealProcess, OutputThatNobodyReadsBlocksTheProgram) {
  auto body = [](process& child) -> task<std::size_t> {
    const std::string first = co_await child.read();
    std::uint64_t last = 0;
    while (true) {
      co_await sleep_for(milliseconds(1));
      const std::uint64_t written = written_by(child.identity().pid);
      if (written == last && read_process(child.identity().pid)->state == 'S') break;
      last = written;
      if (written > 100'000'000) throw std::runtime_error("it does not block");
    }
    const std::string all = co_await child.read();
    co_return all.size();
  };
  EXPECT_LE(loop.run(with_process(named("yes"), body, 1000)), std::size_t{256} * 1024);
}

}  // namespace
}  // namespace looptask
