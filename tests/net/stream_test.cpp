#include <looptask/stream.hpp>

#include <csignal>

#include "net/network.hpp"
#include "sim/world.hpp"

namespace looptask {
namespace {

// Both kinds of connection.
struct Stream : on_the_network, testing::WithParamInterface<bool> {
  stream here, there;
  void SetUp() override {
    if (GetParam()) {
      both_ends ends = run(connected(loop));
      here = std::move(ends.client);
      there = std::move(ends.server);
    } else {
      stream_pair ends = make_stream_pair(loop);
      here = std::move(ends.first);
      there = std::move(ends.second);
    }
  }
  void TearDown() override {
    here.close();
    there.close();
    on_the_network::TearDown();
  }
  // Until the kernel takes no more.
  std::size_t fill() {
    const std::string bytes(std::size_t{1} << 16U, 'x');
    std::size_t all = 0;
    bool full = false;
    while (!full) {
      std::size_t went = 0;
      cancel_scope scope(loop);
      auto writes = [](stream& to, const std::string& what, std::size_t& count) -> task<> {
        co_await to.write_all(what, &count);
      };
      spawn(loop, scope, writes(here, bytes, went), [](const outcome<>&) {});
      take_turns(20);
      full = went < bytes.size();
      scope.cancel();
      take_turns();
      all += went;
    }
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, Stream, testing::Bool(), [](const auto& of) { return of.param ? "Tcp" : "Unix"; });

TEST_P(Stream, CarriesBytesBothWays) {
  run([&]() -> task<> {
    char to[8];
    co_await here.write_all("ping");
    const std::size_t asked = co_await there.read_some(to);
    LT_REQUIRE(std::string(to, asked) == "ping");
    const std::size_t written = co_await there.write_some("pong!");
    LT_REQUIRE(written == 5);
    const std::size_t answered = co_await here.read_some(to);
    LT_REQUIRE(std::string(to, answered) == "pong!");
  });
}

TEST_P(Stream, ReadsWhatIsThereAndNoMoreThanThereIsRoomFor) {
  run([&]() -> task<> {
    co_await here.write_all("abcde");
    char to[3];
    std::size_t size = co_await there.read_some(to);
    LT_REQUIRE(std::string(to, size) == "abc");
    size = co_await there.read_some(to);
    LT_REQUIRE(std::string(to, size) == "de");
  });
}

TEST_P(Stream, AReaderWaitsForWhatComes) {
  std::string got;
  auto reads = [](stream& from, std::string& all) -> task<> {
    char to[8];
    for (int i = 0; i < 2; ++i) all.append(to, co_await from.read_some(to));
  };
  bool done = false;
  spawn(loop, reads(there, got), [&](const outcome<>&) { done = true; });
  take_turns();
  EXPECT_EQ(got, "");
  run([&]() -> task<> { co_await here.write_all("a"); });
  while (got.empty()) loop.run_once();
  EXPECT_EQ(got, "a");
  run([&]() -> task<> { co_await here.write_all("b"); });
  while (!done) loop.run_once();
  EXPECT_EQ(got, "ab");
}

TEST_P(Stream, AWriterWaitsForAPeerThatDoesNotRead) {
  const std::string bytes(std::size_t{8} << 20U, 'z');
  std::size_t went = 0;
  bool done = false;
  auto writes = [](stream& to, const std::string& what, std::size_t& count) -> task<> {
    co_await to.write_all(what, &count);
    to.shutdown_write();
  };
  spawn(loop, writes(here, bytes, went), [&](const outcome<>& how) { done = how.ok(); });
  take_turns(50);
  EXPECT_GT(went, 0U);
  EXPECT_LT(went, bytes.size());
  const std::size_t held = went;
  take_turns(50);
  EXPECT_EQ(went, held);
  EXPECT_EQ(run(read_all(there)), bytes);
  take_turns();
  EXPECT_TRUE(done);
  EXPECT_EQ(went, bytes.size());
}

TEST_P(Stream, TwoTasksReadAndWriteAtTheSameTime) {
  const std::string bytes(std::size_t{3} << 20U, 'q');
  auto exchange = [](stream& with, const std::string& what, std::string& got) -> task<> {
    auto body = [&](task_group& group) -> task<> {
      auto writes = [](stream& to, const std::string& all) -> task<> {
        co_await to.write_all(all);
        to.shutdown_write();
      };
      auto reads = [](stream& from, std::string& all) -> task<> { all = co_await read_all(from); };
      group.start(writes(with, what));
      group.start(reads(with, got));
      co_return;
    };
    co_await with_task_group(std::move(body));
  };
  std::string from_here, from_there;
  auto both = [&](task_group& group) -> task<> {
    group.start(exchange(here, bytes, from_there));
    group.start(exchange(there, bytes, from_here));
    co_return;
  };
  run(with_task_group(std::move(both)));
  EXPECT_EQ(from_here, bytes);
  EXPECT_EQ(from_there, bytes);
}

TEST_P(Stream, HalfClosedStillReads) {
  run([&]() -> task<> {
    co_await here.write_all("question");
    here.shutdown_write();
    const std::string asked = co_await read_all(there);
    LT_REQUIRE(asked == "question");
    co_await there.write_all("answer");
    there.close();
    const std::string answered = co_await read_all(here);
    LT_REQUIRE(answered == "answer");
  });
}

TEST_P(Stream, TheEndComesAgainAndAgain) {
  here.close();
  run([&]() -> task<> {
    char to[1];
    for (int i = 0; i < 600; ++i) {  // more than a turn's budget
      const std::size_t size = co_await there.read_some(to);
      LT_REQUIRE(size == 0);
    }
  });
}

TEST_P(Stream, WritingToOneThatIsGoneIsAnErrorAndNoSignal) {
  here.close();
  const std::string said = complaint([&] {
    run([&]() -> task<> {
      while (true) co_await there.write_all("into the void");
    });
  });
  const std::string whom = GetParam() ? there.peer().text() : "unnamed";
  EXPECT_TRUE(said == "write to " + whom + ": Broken pipe" || said == "write to " + whom + ": Connection reset by peer")
      << said;
}

TEST_P(Stream, ALoopWithAStreamThatNobodyWaitsForDoesNotSpin) {
  run([&]() -> task<> {
    co_await here.write_all("x");
    char to[4];
    co_await there.read_some(to);
  });
  const bool late = run([&]() -> task<bool> {
    co_return co_await move_on_after(milliseconds(1), [](stream& from) -> task<> {
      char to[4];
      co_await from.read_some(to);
    }(there));
  });
  EXPECT_FALSE(late);  // armed for reading, and nobody reads
  run([&]() -> task<> {
    co_await here.write_all("something");
    here.shutdown_write();
  });
  const std::uint64_t before = loop.statistics().polls;
  run(detail::keeping([]() -> task<> { co_await sleep_for(milliseconds(30)); }));
  EXPECT_LT(loop.statistics().polls - before, 12U);
  EXPECT_EQ(run(read_all(there)), "something");
}

TEST_P(Stream, CancelledBeforeItMovesNothing) {
  run([&]() -> task<> {
    co_await here.write_all("kept");
    cancel_scope scope(loop);
    scope.cancel();
    auto reads = [](stream& from) -> task<> {
      char to[8];
      co_await from.read_some(to);
    };
    auto writes = [](stream& to, std::size_t& count) -> task<> { co_await to.write_all("lost", &count); };
    auto writes_some = [](stream& to) -> task<> { co_await to.write_some("lost"); };
    std::size_t went = 7;
    LT_REQUIRE(!co_await scope.run(reads(there)));
    LT_REQUIRE(!co_await scope.run(writes(here, went)));
    LT_REQUIRE(!co_await scope.run(writes_some(here)));
    LT_REQUIRE(went == 0);
    here.shutdown_write();
    const std::string rest = co_await read_all(there);
    LT_REQUIRE(rest == "kept");
  });
}

TEST_P(Stream, CancelledWhileItReadsLosesNothing) {
  auto reads = [](stream& from) -> task<> {
    char to[8];
    co_await from.read_some(to);
  };
  EXPECT_FALSE(run([&]() -> task<bool> { co_return co_await move_on_after(milliseconds(1), reads(there)); }));
  run([&]() -> task<> {
    co_await here.write_all("later");
    here.shutdown_write();
  });
  EXPECT_EQ(run(read_all(there)), "later");
}

TEST_P(Stream, BytesThatCameBeforeTheCancellationAreDelivered) {
  std::string got;
  std::string end;
  cancel_scope scope(loop);
  auto reads = [](stream& from, std::string& all) -> task<> {
    char to[8];
    all.append(to, co_await from.read_some(to));
    co_await from.read_some(to);
  };
  auto cancels = [&] { scope.cancel(); };
  spawn(loop, scope, reads(there, got), [&](const outcome<>& how) {
    try {
      outcome<>(how).get();
    } catch (const cancelled&) {
      end = "cancelled";
    }
  });
  take_turns();
  run([&]() -> task<> { co_await here.write_all("in time"); });
  // The poll that meets the bytes comes before the timers of its turn.
  loop.call_at(loop.now(), cancels);
  while (end.empty()) loop.run_once();
  EXPECT_EQ(got, "in time");
  EXPECT_EQ(end, "cancelled");
}

TEST_P(Stream, CancelledWhileItWritesSaysHowMuchWentOut) {
  const std::size_t before = fill();
  const std::string bytes(std::size_t{48} << 20U, 'y');
  std::size_t went = 1;
  auto writes = [](stream& to, const std::string& what, std::size_t& count) -> task<> { co_await to.write_all(what, &count); };
  cancel_scope scope(loop);
  bool over = false;
  spawn(loop, scope, writes(here, bytes, went), [&](const outcome<>&) { over = true; });
  take_turns();
  EXPECT_EQ(went, 0U);
  std::string got;
  run([&]() -> task<> {
    char to[65536];
    while (got.size() < before) got.append(to, co_await there.read_some(to));
  });
  take_turns();
  scope.cancel();
  while (!over) loop.run_once();
  EXPECT_GT(went, 0U);
  EXPECT_LT(went, bytes.size());
  here.close();
  EXPECT_EQ(got.size() + run(read_all(there)).size(), before + went);
}

TEST_P(Stream, WriteSomeWritesWhatThereIsRoomFor) {
  const std::string bytes(std::size_t{64} << 20U, 's');
  const std::size_t went = run([&]() -> task<std::size_t> { co_return co_await here.write_some(bytes); });
  EXPECT_GT(went, 0U);
  EXPECT_LT(went, bytes.size());
}

TEST_P(Stream, NothingToWriteNeedsNoWait) {
  fill();
  run([&]() -> task<> {
    std::size_t went = 1;
    co_await here.write_all("", &went);
    LT_REQUIRE(went == 0);
    const std::size_t some = co_await here.write_some("");
    LT_REQUIRE(some == 0);
  });
}

TEST_P(Stream, TasksThatWaitAreDestroyedWithTheirLoop) {
  auto holds = [](stream mine) -> task<> {
    auto body = [&mine](task_group& group) -> task<> {
      auto reads = [](stream& from) -> task<> {
        char to[8];
        co_await from.read_some(to);
      };
      auto writes = [](stream& to) -> task<> {
        const std::string bytes(std::size_t{32} << 20U, 'x');
        co_await to.write_all(bytes);
      };
      group.start(reads(mine));
      group.start(writes(mine));
      co_return;
    };
    co_await with_task_group(std::move(body));
  };
  spawn(loop, holds(std::move(here)));
  take_turns(20);
  there.close();
  owned.reset();
}

TEST_P(Stream, MovesWhileATaskWaitsForIt) {
  std::string got;
  auto reads = [](stream& from, std::string& all) -> task<> {
    char to[8];
    all.append(to, co_await from.read_some(to));
  };
  spawn(loop, reads(there, got));
  take_turns();
  stream elsewhere = std::move(there);
  run([&]() -> task<> { co_await here.write_all("found"); });
  while (got.empty()) loop.run_once();
  EXPECT_EQ(got, "found");
}

TEST_P(Stream, InASteadyStateAllocatesNothingAndAsksForNothingButTheBytes) {
  constexpr int rounds = 1000;
  auto echo = [](stream& with) -> task<> {
    char to[64];
    while (true) {
      const std::size_t size = co_await with.read_some(to);
      if (size == 0) co_return;
      co_await with.write_all({to, size});
    }
  };
  auto client = [](stream& with, looptask::loop& l, std::uint64_t& polls, std::int64_t& frames) -> task<> {
    char to[64];
    for (int i = 0; i < rounds + 10; ++i) {
      if (i == 10) {
        polls = l.statistics().polls;
        frames = memory_pool::live();
      }
      co_await with.write_all("request");
      co_await with.read_some(to);
    }
    polls = l.statistics().polls - polls;
    frames = memory_pool::live() - frames;
    with.close();
  };
  spawn(loop, echo(there));
  std::uint64_t polls = 0;
  std::int64_t frames = 0;
  run(client(here, loop, polls, frames));
  take_turns();
  EXPECT_EQ(frames, 0);
  EXPECT_LE(polls, 2U * rounds);  // one for the request, one for the answer
}

TEST_P(Stream, AbortedIsAReset) {
  if (!GetParam()) return;  // Unix sockets know none
  here.abort();
  const std::string said = complaint([&] { run(read_all(there)); });
  EXPECT_EQ(said, "read from " + there.peer().text() + ": Connection reset by peer");
}

TEST_P(Stream, AWaitingReaderMeetsTheReset) {
  if (!GetParam()) return;
  std::string said;
  auto reads = [](stream& from, std::string& words) -> task<> {
    try {
      co_await read_all(from);
    } catch (const std::system_error& error) {
      words = error.what();
    }
  };
  spawn(loop, reads(there, said));
  take_turns();
  here.abort();
  while (said.empty()) loop.run_once();
  EXPECT_EQ(said, "read from " + there.peer().text() + ": Connection reset by peer");
}

TEST_P(Stream, AWaitingWriterMeetsTheEndOfItsPeer) {
  fill();
  std::string said;
  auto writes = [](stream& to, std::string& words) -> task<> {
    try {
      const std::string bytes(std::size_t{1} << 20U, 'x');
      co_await to.write_all(bytes);
      co_await to.write_all(bytes);
    } catch (const std::system_error& error) {
      words = error.what();
    }
  };
  spawn(loop, writes(here, said));
  take_turns();
  there.close();
  while (said.empty()) loop.run_once();
  EXPECT_TRUE(said.starts_with("write to ")) << said;
}

struct Pipe : on_the_network {};

TEST_F(Pipe, CarriesBytesOneWayAndEnds) {
  pipe_ends ends = make_pipe(loop);
  run([&]() -> task<> {
    co_await ends.writes.write_all("through the pipe");
    ends.writes.close();
    const std::string all = co_await read_all(ends.reads);
    LT_REQUIRE(all == "through the pipe");
  });
}

TEST_F(Pipe, WaitsForRoom) {
  pipe_ends ends = make_pipe(loop);
  const std::string bytes(std::size_t{1} << 20U, 'p');
  std::string got;
  auto both = [&](task_group& group) -> task<> {
    auto writes = [](stream to, const std::string& what) -> task<> { co_await to.write_all(what); };
    auto reads = [](stream& from, std::string& all) -> task<> { all = co_await read_all(from); };
    group.start(writes(std::move(ends.writes), bytes));
    group.start(reads(ends.reads, got));
    co_return;
  };
  run(with_task_group(std::move(both)));
  EXPECT_EQ(got, bytes);
}

TEST_F(Pipe, WhoseReaderIsGoneIsAnErrorAndNoSignal) {
  pipe_ends ends = make_pipe(loop);
  ends.reads.close();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(complaint([&] { run([&]() -> task<> { co_await ends.writes.write_all("x"); }); }),
              "write to unnamed: Broken pipe");
  }
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

TEST_F(Pipe, HasNoWritingToShutDown) {
  pipe_ends ends = make_pipe(loop);
  EXPECT_EQ(complaint([&] { ends.writes.shutdown_write(); }), "shut down writing to unnamed: Invalid argument");
}

using StreamDeathTest = on_the_network;

TEST_F(StreamDeathTest, ClosedWhileATaskWaitsIsMisuse) {
  EXPECT_DEATH(
      {
        stream_pair ends = make_stream_pair(loop);
        spawn(loop, [](stream& from) -> task<> {
          char to[1];
          co_await from.read_some(to);
        }(ends.first));
        take_turns();
        ends.first.close();
      },
      "closed while a task waits for it");
}

TEST_F(StreamDeathTest, TwoReadersAreMisuse) {
  EXPECT_DEATH(
      {
        stream_pair ends = make_stream_pair(loop);
        for (int i = 0; i < 2; ++i) {
          spawn(loop, [](stream& from) -> task<> {
            char to[1];
            co_await from.read_some(to);
          }(ends.first));
        }
        take_turns();
      },
      "two tasks read from one stream");
}

TEST_F(StreamDeathTest, AReadIntoNothingIsMisuse) {
  EXPECT_DEATH(
      {
        stream_pair ends = make_stream_pair(loop);
        run([&]() -> task<> { co_await ends.first.read_some({}); });
      },
      "read into an empty span");
}

TEST(SimulatedNetwork, IsRefused) {
  sim::world world(1);
  looptask::loop loop(world);
  EXPECT_EQ(complaint([&] { make_stream_pair(loop); }), "sim: the simulated world has no network: Operation not supported");
  EXPECT_EQ(complaint([&] { listen(loop, endpoint::loopback(0)); }),
            "sim: the simulated world has no network: Operation not supported");
}

}  // namespace
}  // namespace looptask
