#include <looptask/writer.hpp>

#include "net/network.hpp"

namespace looptask {
namespace {

struct Writer : on_the_network {
  stream_pair ends = make_stream_pair(loop);
  writer_marks marks{1000, 4000};
  std::optional<writer> out{std::in_place, ends.first, marks};
  void TearDown() override {
    out.reset();
    ends.first.close();
    ends.second.close();
    on_the_network::TearDown();
  }
  // More than the kernel takes.
  void write_much() {
    out->write(std::string(std::size_t{4} << 20U, 'x'));
    take_turns();
    ASSERT_GT(out->buffered(), marks.high);
  }
};

TEST_F(Writer, SendsWhatATurnHasWrittenInTheNextOne) {
  out->write("one ");
  out->write("two");
  EXPECT_EQ(out->buffered(), 7U);
  take_turns();
  EXPECT_EQ(out->buffered(), 0U);
  out.reset();
  ends.first.close();
  EXPECT_EQ(run(read_all(ends.second)), "one two");
}

TEST_F(Writer, DrainSendsAtOnceAndDoesNotWaitBelowTheHighMark) {
  run([&]() -> task<> {
    out->write("now");
    co_await out->drain();
    LT_REQUIRE(out->buffered() == 0);
  });
}

TEST_F(Writer, DrainWaitsForAPeerThatDoesNotRead) {
  write_much();
  bool drained = false;
  auto drains = [](writer& of, bool& done) -> task<> {
    co_await of.drain();
    done = true;
  };
  spawn(loop, drains(*out, drained));
  take_turns(50);
  EXPECT_FALSE(drained);
  std::size_t kept_then = 0;
  std::size_t got = 0;
  run([&]() -> task<> {
    char to[4096];
    while (!drained) {
      got += co_await ends.second.read_some(to);
      kept_then = out->buffered();
      co_await yield();
    }
  });
  EXPECT_LE(kept_then, marks.low);
  EXPECT_GT(got, 0U);
}

TEST_F(Writer, FlushWaitsUntilAllIsOut) {
  write_much();
  bool flushed = false;
  auto flushes = [](writer& of, bool& done) -> task<> {
    co_await of.flush();
    done = true;
  };
  spawn(loop, flushes(*out, flushed));
  run([&]() -> task<> {
    char to[65536];
    while (!flushed) {
      co_await ends.second.read_some(to);
      co_await yield();
    }
  });
  EXPECT_EQ(out->buffered(), 0U);
}

TEST_F(Writer, CloseSendsTheRestAndThenTheEnd) {
  std::string got;
  auto reads = [](stream& from, std::string& all) -> task<> { all = co_await read_all(from); };
  bool over = false;
  spawn(loop, reads(ends.second, got), [&](const outcome<>&) { over = true; });
  const std::string bytes(std::size_t{3} << 20U, 'c');
  out->write(bytes);
  run(out->close());
  while (!over) loop.run_once();
  EXPECT_EQ(got, bytes);
}

TEST_F(Writer, AnErrorComesOutOfTheNextCallAndOfEachAfterIt) {
  ends.second.close();
  out->write("into the void");
  take_turns();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(complaint([&] { out->write("more"); }), "write to unnamed: Broken pipe");
    EXPECT_EQ(complaint([&] { run([&]() -> task<> { co_await out->drain(); }); }), "write to unnamed: Broken pipe");
    EXPECT_EQ(complaint([&] { run(out->close()); }), "write to unnamed: Broken pipe");
  }
  EXPECT_EQ(out->buffered(), 0U);
}

TEST_F(Writer, AnErrorEndsTheDrainThatWaits) {
  write_much();
  std::string said;
  auto drains = [](writer& of, std::string& words) -> task<> {
    try {
      co_await of.drain();
    } catch (const std::system_error& error) {
      words = error.what();
    }
  };
  spawn(loop, drains(*out, said));
  take_turns();
  ends.second.close();
  while (said.empty()) loop.run_once();
  EXPECT_TRUE(said.starts_with("write to unnamed: ")) << said;
}

TEST_F(Writer, ADrainThatIsCancelledLeavesTheBytesOnTheirWay) {
  write_much();
  auto drains = [](writer& of) -> task<> { co_await of.drain(); };
  EXPECT_FALSE(run([&]() -> task<bool> { co_return co_await move_on_after(milliseconds(1), drains(*out)); }));
  run([&]() -> task<> {
    cancel_scope scope(loop);
    scope.cancel();
    LT_REQUIRE(!co_await scope.run(drains(*out)));
  });
  const std::size_t all = std::size_t{4} << 20U;
  run([&]() -> task<> {
    char to[65536];
    for (std::size_t got = 0; got < all;) got += co_await ends.second.read_some(to);
  });
  EXPECT_EQ(out->buffered(), 0U);
}

TEST_F(Writer, ATaskThatDrainsIsDestroyedWithItsLoop) {
  out.reset();
  auto writes = [](stream to) -> task<> {
    writer mine(to);
    mine.write(std::string(std::size_t{4} << 20U, 'x'));
    co_await mine.drain();
  };
  spawn(loop, writes(std::move(ends.first)));
  take_turns();
  ends.second.close();
  owned.reset();
}

using WriterDeathTest = Writer;

TEST_F(WriterDeathTest, DestroyedWhileATaskDrainsIsMisuse) {
  EXPECT_DEATH(
      {
        write_much();
        auto drains = [](writer& of) -> task<> { co_await of.drain(); };
        spawn(loop, drains(*out));
        take_turns();
        out.reset();
      },
      "writer destroyed while a task waits for it");
}

}  // namespace
}  // namespace looptask
