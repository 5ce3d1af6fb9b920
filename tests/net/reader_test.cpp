#include <looptask/reader.hpp>

#include <rapidcheck.h>

#include <algorithm>

#include "net/network.hpp"

namespace looptask {
namespace {

struct Reader : on_the_network {
  stream_pair ends = make_stream_pair(loop);
  std::optional<reader> in{std::in_place, ends.second};
  void TearDown() override {
    in.reset();
    ends.first.close();
    ends.second.close();
    on_the_network::TearDown();
  }
  void send(std::string bytes) {
    run([&]() -> task<> { co_await ends.first.write_all(bytes); });
  }
  void send_last(std::string bytes) {
    send(std::move(bytes));
    ends.first.close();
  }
  template <class T>
  void gives_way(task<T> work) {
    auto short_time = [](task<T> inner) -> task<bool> {
      const auto result = co_await move_on_after(milliseconds(1), std::move(inner));
      co_return static_cast<bool>(result);
    };
    EXPECT_FALSE(run(short_time(std::move(work))));
  }
};

TEST_F(Reader, ReadsExactlyWhatIsAskedFor) {
  send_last("abcdefgh");
  EXPECT_EQ(run(in->read_exactly(3)), "abc");
  EXPECT_EQ(run(in->read_exactly(0)), "");
  EXPECT_EQ(run(in->read_exactly(5)), "defgh");
  EXPECT_TRUE(run(in->at_end()));
}

TEST_F(Reader, AnEndInTheMiddleBringsWhatThereWas) {
  send_last("abc");
  try {
    run(in->read_exactly(5));
    ADD_FAILURE() << "no exception";
  } catch (const incomplete_read& error) {
    EXPECT_EQ(error.partial(), "abc");
    EXPECT_STREQ(error.what(), "the end after 3 of 5 bytes from unnamed");
  }
  EXPECT_TRUE(run(in->at_end()));
}

TEST_F(Reader, ReadsUpToADelimiterThatComesInPieces) {
  auto reads = [](reader& from, std::string& all) -> task<> { all = co_await from.read_until("\r\n\r\n"); };
  std::string head;
  spawn(loop, reads(*in, head));
  for (const char* const piece : {"GET / HTTP/1.0\r", "\nHost: x\r\n", "\r", "\nrest"}) {
    EXPECT_EQ(head, "");
    send(piece);
    take_turns();
  }
  EXPECT_EQ(head, "GET / HTTP/1.0\r\nHost: x\r\n\r\n");
  EXPECT_EQ(in->buffered(), "rest");
}

TEST_F(Reader, ADelimiterThatDoesNotComeIsAnIncompleteRead) {
  send_last("half a record");
  try {
    run(in->read_until(";"));
    ADD_FAILURE() << "no exception";
  } catch (const incomplete_read& error) {
    EXPECT_EQ(error.partial(), "half a record");
  }
}

TEST_F(Reader, BeyondTheLimitNothingIsConsumed) {
  send_last("12345;rest");
  EXPECT_THROW(run(in->read_until(";", 5)), limit_exceeded);
  EXPECT_EQ(in->buffered(), "12345;rest");
  EXPECT_EQ(run(in->read_until(";", 6)), "12345;");
  EXPECT_EQ(run(in->read_exactly(4)), "rest");
}

TEST_F(Reader, ReadsLinesWithEitherEnd) {
  send_last("one\ntwo\r\n\nlast");
  std::vector<std::string> lines;
  run([&]() -> task<> {
    while (true) {
      std::optional<std::string> line = co_await in->read_line();
      if (!line) break;
      lines.push_back(*std::move(line));
    }
  });
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "", "last"}));
}

TEST_F(Reader, ALineThatIsTooLongIsRefused) {
  send(std::string(100, 'x'));
  EXPECT_THROW(run(in->read_line(64)), limit_exceeded);
  EXPECT_EQ(in->buffered().size(), 100U);
}

TEST_F(Reader, ReadsSomeOfWhatItHoldsFirst) {
  send("abcdef");
  EXPECT_EQ(run(in->read_exactly(2)), "ab");
  char to[3];
  EXPECT_EQ(run(in->read_some(to)), 3U);
  EXPECT_EQ(std::string(to, 3), "cde");
  EXPECT_EQ(run(in->read_some(to)), 1U);
  send_last("g");
  EXPECT_EQ(run(in->read_some(to)), 1U);
  EXPECT_EQ(run(in->read_some(to)), 0U);
}

TEST_F(Reader, WhatCameBeforeACancellationIsStillThere) {
  send("abc");
  gives_way(in->read_exactly(5));
  EXPECT_EQ(in->buffered(), "abc");
  gives_way(in->read_until(";"));
  gives_way(in->read_line());
  send_last("de;\n");
  EXPECT_EQ(run(in->read_exactly(5)), "abcde");
  EXPECT_EQ(run(in->read_until(";")), ";");
  EXPECT_EQ(run(in->read_line()), "");
}

TEST_F(Reader, CancelledBeforeItConsumesNothing) {
  send("abc;\n");
  EXPECT_FALSE(run(in->at_end()));
  run([&]() -> task<> {
    cancel_scope scope(loop);
    scope.cancel();
    LT_REQUIRE(!co_await scope.run(in->read_exactly(1)));
    LT_REQUIRE(!co_await scope.run(in->read_until(";")));
    LT_REQUIRE(!co_await scope.run(in->read_line()));
    LT_REQUIRE(!co_await scope.run(in->at_end()));
  });
  EXPECT_EQ(in->buffered(), "abc;\n");
}

TEST_F(Reader, ManyLinesThatAreThereLetOthersRun) {
  send(std::string(4000, '\n'));
  int lines = 0;
  bool other = false;
  auto reads = [](reader& from, int& count, const bool& stop) -> task<> {
    while (!stop) {
      co_await from.read_line();
      ++count;
    }
  };
  spawn(loop, reads(*in, lines, other));
  loop.call_later(duration(0), [&] { other = true; });
  while (!other) loop.run_once();
  take_turns();
  EXPECT_GT(lines, 0);
  EXPECT_LT(lines, 4000);
}

// Whatever the pieces in which bytes come, the lines are the same.
TEST(ReaderProperty, PiecesDoNotMatter) {
  rc::check([] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '\r', '\n', ';'));
    const auto cuts = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 9));
    std::vector<std::string> expected;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find("\r\n", at), text.size() - 2) + 2;
      if (text.find("\r\n", at) == std::string::npos) break;
      expected.push_back(text.substr(at, end - at));
      at = end;
    }
    real_host host;
    looptask::loop loop(host);
    stream_pair ends = make_stream_pair(loop);
    std::vector<std::string> records;
    std::string rest;
    auto writes = [](stream to, std::string bytes, std::vector<std::size_t> sizes) -> task<> {
      for (std::size_t at = 0, i = 0; at < bytes.size(); ++i) {
        const std::string piece = bytes.substr(at, i < sizes.size() ? sizes[i] : std::string::npos);
        co_await to.write_all(piece);
        at += piece.size();
        co_await yield();
        co_await yield();
      }
    };
    auto reads = [](stream from, std::vector<std::string>& all, std::string& left) -> task<> {
      reader in(from);
      try {
        while (true) all.push_back(co_await in.read_until("\r\n"));
      } catch (const incomplete_read& error) {
        left = error.partial();
      }
    };
    spawn(loop, writes(std::move(ends.first), text, cuts));
    loop.run(reads(std::move(ends.second), records, rest));
    RC_ASSERT(records == expected);
    std::string all;
    for (const std::string& one : records) all += one;
    RC_ASSERT(all + rest == text);
  });
}

}  // namespace
}  // namespace looptask
