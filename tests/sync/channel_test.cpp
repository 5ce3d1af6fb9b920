#include <looptask/channel.hpp>

#include "task/world.hpp"

namespace looptask {
namespace {

using number = std::unique_ptr<int>;  // only moves
number boxed(int n) { return std::make_unique<int>(n); }

struct Channel : in_a_world {
  channel<number> two{2};
  cancel_scope scope{loop};

  task<> sends(channel<number>& to, int from, int until) {
    for (int i = from; i < until; ++i) {
      co_await to.send(boxed(i));
      note("sent " + std::to_string(i));
    }
  }
  task<> receives(channel<number>& from, int count) {
    for (int i = 0; i < count; ++i) {
      const auto got = co_await from.receive();
      note(got ? "got " + std::to_string(**got) : "closed");
    }
  }
};

TEST_F(Channel, DeliversInTheOrderSent) {
  spawn(loop, sends(two, 0, 3));
  spawn(loop, receives(two, 3));
  loop.run();
  EXPECT_EQ(order, (words{"sent 0", "sent 1", "got 0", "got 1", "got 2", "sent 2"}));
}

TEST_F(Channel, ASlowReceiverHoldsUpItsSender) {
  spawn(loop, sends(two, 0, 4));
  loop.call_later(seconds(1), [&] {
    EXPECT_EQ(order, (words{"sent 0", "sent 1"}));
    EXPECT_EQ(two.size(), 2U);
    EXPECT_EQ(two.statistics().senders.waiting, 1U);
    EXPECT_EQ(**two.try_receive(), 0);
    EXPECT_EQ(two.size(), 2U);  // the waiting value took the place
  });
  loop.call_later(seconds(2), [&] { EXPECT_EQ(order, (words{"sent 0", "sent 1", "sent 2"})); });
  loop.call_later(seconds(3), [&] {
    for (int i = 1; i < 4; ++i) EXPECT_EQ(**two.try_receive(), i);
    EXPECT_FALSE(two.try_receive().has_value());
  });
  loop.run();
}

TEST_F(Channel, SendersAndReceiversThatWaitAreServedInOrder) {
  channel<number> none(0);
  for (int i = 0; i < 3; ++i) spawn(loop, sends(none, i, i + 1));
  loop.call_later(seconds(1), [&] { spawn(loop, receives(none, 3)); });
  loop.run();
  EXPECT_EQ(order, (words{"got 0", "got 1", "got 2", "sent 0", "sent 1", "sent 2"}));
  order.clear();
  auto receives_as = [](Channel& test, std::string name) -> task<> {
    const auto got = co_await test.two.receive();
    test.note(name + std::to_string(**got));
  };
  for (const char* name : {"a", "b", "c"}) spawn(loop, receives_as(*this, name));
  loop.call_later(seconds(1), [&] {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(two.try_send(boxed(i)));
    EXPECT_EQ(two.size(), 0U);
  });
  loop.run();
  EXPECT_EQ(order, (words{"a0", "b1", "c2"}));
}

TEST_F(Channel, NobodyOvertakesASenderOrReceiverThatWaits) {
  spawn(loop, receives(two, 1));
  loop.call_later(seconds(1), [&] {
    EXPECT_TRUE(two.try_send(boxed(1)));
    EXPECT_FALSE(two.try_receive().has_value()) << "it is the waiting receiver's";
  });
  loop.call_later(seconds(2), [&] { spawn(loop, sends(two, 10, 13)); });
  loop.call_later(seconds(3), [&] {
    EXPECT_FALSE(two.try_send(boxed(99)));
    EXPECT_EQ(**two.try_receive(), 10);
    EXPECT_FALSE(two.try_send(boxed(99))) << "the free place is the waiting sender's";
    EXPECT_EQ(**two.try_receive(), 11);
    EXPECT_EQ(**two.try_receive(), 12);
  });
  loop.run();
}

TEST_F(Channel, TrySendLeavesTheValueAloneIfThereIsNoRoom) {
  channel<number> none(0);
  number mine = boxed(7);
  EXPECT_FALSE(none.try_send(std::move(mine)));
  ASSERT_NE(mine, nullptr);  // NOLINT(bugprone-use-after-move)
  spawn(loop, receives(none, 1));
  loop.run();
  EXPECT_TRUE(none.try_send(std::move(mine)));
  loop.run();
  EXPECT_EQ(order, (words{"got 7"}));
}

TEST_F(Channel, WithoutCapacityEachSendWaitsForItsReceiver) {
  channel<number> none(0);
  spawn(loop, sends(none, 0, 2));
  loop.call_later(seconds(1), [&] { EXPECT_EQ(**none.try_receive(), 0); });
  loop.call_later(seconds(2), [&] { note("second"); });
  loop.call_later(seconds(2), [&] { EXPECT_EQ(**none.try_receive(), 1); });
  loop.run();
  EXPECT_EQ(order, (words{"sent 0", "second", "sent 1"}));
  EXPECT_EQ(none.statistics().most_held, 0U);
  EXPECT_EQ(none.statistics().received, 2U);
}

TEST_F(Channel, AfterCloseWhatIsInItCanStillBeReceived) {
  EXPECT_TRUE(two.try_send(boxed(1)));
  two.close();
  two.close();
  EXPECT_TRUE(two.is_closed());
  spawn(loop, receives(two, 3));
  loop.run();
  EXPECT_EQ(order, (words{"got 1", "closed", "closed"}));
}

TEST_F(Channel, CloseWakesReceiversThatWait) {
  for (int i = 0; i < 2; ++i) spawn(loop, receives(two, 1));
  loop.call_later(seconds(1), [&] { two.close(); });
  loop.run();
  EXPECT_EQ(order, (words{"closed", "closed"}));
}

TEST_F(Channel, CloseRefusesTheValuesOfSendersThatWait) {
  outcome<> how;
  spawn(loop, sends(two, 0, 3), [&](outcome<> o) { how = std::move(o); });
  loop.call_later(seconds(1), [&] { two.close(); });
  loop.run();
  EXPECT_THROW(std::move(how).get(), channel_closed);
  EXPECT_EQ(two.size(), 2U);
  EXPECT_EQ(two.statistics().sent, 2U);
}

TEST_F(Channel, SendOnAClosedOneThrows) {
  two.close();
  EXPECT_THROW(loop.run(sends(two, 0, 1)), channel_closed);
  EXPECT_THROW(two.try_send(boxed(1)), channel_closed);
  EXPECT_EQ(two.size(), 0U);
}

TEST_F(Channel, CancellationBeforeTheAwaitSendsAndReceivesNothing) {
  EXPECT_TRUE(two.try_send(boxed(1)));
  scope.cancel();
  spawn(loop, scope, sends(two, 2, 3), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  spawn(loop, scope, receives(two, 1), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  loop.run();
  EXPECT_EQ(two.size(), 1U);
  EXPECT_EQ(**two.try_receive(), 1);
}

TEST_F(Channel, AValueWhoseSendIsCancelledStaysOut) {
  spawn(loop, scope, sends(two, 0, 3), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  spawn(loop, sends(two, 10, 11));
  loop.call_later(seconds(1), [&] { scope.cancel(); });
  loop.call_later(seconds(2), [&] {
    for (const int n : {0, 1, 10}) EXPECT_EQ(**two.try_receive(), n);
    EXPECT_FALSE(two.try_receive().has_value());
  });
  loop.run();
  EXPECT_EQ(two.statistics().sent, 3U);
}

TEST_F(Channel, AValueThatEnteredBeforeTheCancellationStaysIn) {
  spawn(loop, scope, sends(two, 0, 4), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  loop.call_later(seconds(1), [&] {
    EXPECT_EQ(**two.try_receive(), 0);
    scope.cancel();
  });
  loop.run();
  EXPECT_EQ(order, (words{"sent 0", "sent 1", "sent 2"}));
  EXPECT_EQ(two.size(), 2U);
}

TEST_F(Channel, AReceiverThatIsCancelledLeavesTheValueToTheNext) {
  spawn(loop, scope, receives(two, 1), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  spawn(loop, receives(two, 1));
  loop.call_later(seconds(1), [&] {
    scope.cancel();
    EXPECT_TRUE(two.try_send(boxed(5)));
  });
  loop.run();
  EXPECT_EQ(order, (words{"got 5"}));
}

TEST_F(Channel, AValueHandedToAReceiverBeforeItsCancellationIsDelivered) {
  spawn(loop, scope, receives(two, 2), [](outcome<> o) { EXPECT_THROW(std::move(o).get(), cancelled); });
  loop.call_later(seconds(1), [&] {
    EXPECT_TRUE(two.try_send(boxed(5)));
    scope.cancel();
  });
  loop.run();
  EXPECT_EQ(order, (words{"got 5"}));
}

TEST_F(Channel, ValuesOfTasksThatAreDestroyedWithTheirLoopAreFreed) {
  auto counted = std::make_shared<int>(0);
  channel<std::shared_ptr<int>> into(1), from(1);
  auto sending = [](channel<std::shared_ptr<int>>& to, std::shared_ptr<int> what) -> task<> {
    while (true) co_await to.send(what);
  };
  auto receiving = [](channel<std::shared_ptr<int>>& source) -> task<> { co_await source.receive(); };
  spawn(loop, sending(into, counted));
  spawn(loop, receiving(from));
  loop.call_later(seconds(1), [&] {
    EXPECT_TRUE(from.try_send(counted));
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(counted.use_count(), 5);  // ours, the sender's, one in the channel, one waiting, one handed over
  scope.cancel();
  owned.reset();
  EXPECT_EQ(counted.use_count(), 2);
  EXPECT_EQ(into.statistics().senders.waiting, 0U);
}

TEST_F(Channel, TasksThatNeverHaveToWaitStillLetOthersRun) {
  channel<number> wide(1000);
  bool other_ran = false;
  auto fills = [](channel<number>& to, bool& other) -> task<> {
    while (!other) co_await to.send(boxed(1));
  };
  spawn(loop, fills(wide, other_ran));
  loop.call_soon([&] { other_ran = true; });
  loop.run();
  EXPECT_EQ(wide.size(), 257U);
  other_ran = false;
  int got = 0;
  auto drains = [](channel<number>& from, bool& other, int& n) -> task<> {
    while (!other) {
      co_await from.receive();
      ++n;
    }
  };
  wide.close();
  spawn(loop, drains(wide, other_ran, got));
  loop.call_soon([&] { loop.call_soon([&] { other_ran = true; }); });
  loop.run();
  EXPECT_EQ(got, 514);  // also when only its end is left
}

TEST_F(Channel, StatisticsTellWhatPassedAndWhoWaited) {
  spawn(loop, sends(two, 0, 5));
  loop.call_later(seconds(1), [&] { spawn(loop, receives(two, 4)); });
  loop.run();
  const channel_statistics now = two.statistics();
  EXPECT_EQ(now.capacity, 2U);
  EXPECT_EQ(now.held, 1U);
  EXPECT_EQ(now.most_held, 2U);
  EXPECT_EQ(now.sent, 5U);
  EXPECT_EQ(now.received, 4U);
  EXPECT_FALSE(now.closed);
  EXPECT_EQ(now.senders.waiting, 0U);
  EXPECT_EQ(now.senders.most_waiting, 1U);
  EXPECT_GT(now.senders.waited, 0U);
}

// ---- values whose move may throw ----

class fragile {
 public:
  explicit fragile(int n, int moves_left = 1000) : n_(n), moves_left_(moves_left) {}
  fragile(fragile&& other)
      : n_(other.n_), moves_left_(other.moves_left_ - 1) {  // NOLINT(performance-noexcept-move-constructor)
    if (moves_left_ < 0) throw std::runtime_error("broken " + std::to_string(n_));
  }
  fragile& operator=(fragile&&) = delete;
  ~fragile() = default;
  int n() const { return n_; }

 private:
  int n_;
  int moves_left_;
};

struct FragileValues : in_a_world {
  task<> sends(channel<fragile>& to, int n, int moves) {
    try {
      co_await to.send(fragile(n, moves));
      note("sent " + std::to_string(n));
    } catch (const std::runtime_error& e) {
      note(e.what());
    }
  }
  task<> receives(channel<fragile>& from) {
    try {
      const auto got = co_await from.receive();
      note("got " + std::to_string(got->n()));
    } catch (const std::runtime_error& e) {
      note(e.what());
    }
  }
};

constexpr int into_the_send = 1;  // moves to get there

TEST_F(FragileValues, AFailureOnTheWayInIsTheSendersAndTheValueStaysOut) {
  channel<fragile> one(1);
  spawn(loop, sends(one, 1, into_the_send));  // breaks on its way into the channel
  spawn(loop, sends(one, 2, 1000));
  spawn(loop, sends(one, 3, into_the_send));  // breaks when its place is free
  spawn(loop, sends(one, 4, 1000));
  loop.call_later(seconds(1), [&] { EXPECT_EQ(one.try_receive()->n(), 2); });
  loop.run();
  EXPECT_EQ(order, (words{"broken 1", "sent 2", "broken 3", "sent 4"}));
  EXPECT_EQ(one.try_receive()->n(), 4);
  EXPECT_EQ(one.statistics().sent, 2U);
}

TEST_F(FragileValues, AFailureOnTheWayToAWaitingReceiverIsTheSendersAndTheReceiverWaitsOn) {
  channel<fragile> one(1);
  spawn(loop, receives(one));
  spawn(loop, sends(one, 1, into_the_send));
  spawn(loop, sends(one, 2, 1000));
  loop.run();
  EXPECT_EQ(order, (words{"broken 1", "sent 2", "got 2"}));
}

TEST_F(FragileValues, AFailureOnTheWayOutIsTheReceiversAndTheValueIsStillThere) {
  for (const std::size_t capacity : {1U, 0U}) {
    order.clear();
    channel<fragile> line(capacity);
    spawn(loop, sends(line, 1, into_the_send + static_cast<int>(capacity)));
    loop.run();
    EXPECT_THROW(line.try_receive(), std::runtime_error);
    spawn(loop, receives(line));
    loop.run();
    EXPECT_EQ(order, capacity == 1 ? (words{"sent 1", "broken 1"}) : (words{"broken 1"}));
    EXPECT_EQ(line.size(), capacity);
    EXPECT_EQ(line.statistics().senders.waiting, 1 - capacity);
    line.close();
    loop.run();
  }
}

TEST(ChannelDeathTest, DestroyedWhileTasksWaitIsMisuse) {
  EXPECT_DEATH(
      {
        sim::world world(1);
        loop l(world);
        auto c = std::make_unique<channel<int>>(1U);
        auto waits = [](channel<int>& of) -> task<> { co_await of.receive(); };
        spawn(l, waits(*c));
        l.run();
        c.reset();
      },
      "channel destroyed while tasks wait");
}

}  // namespace
}  // namespace looptask
