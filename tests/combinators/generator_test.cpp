#include <looptask/generator.hpp>

#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

struct at_end {
  at_end(std::vector<std::string>& o, std::string w) : order(o), what(std::move(w)) {}
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;
  ~at_end() { order.push_back(what); }
  std::vector<std::string>& order;
  std::string what;
};

struct Generator : in_a_world {
  static generator<int> counts(std::vector<std::string>& order, int to, duration each) {
    const at_end gone(order, "gone");
    for (int i = 0; i < to; ++i) {
      co_await sleep_for(each);
      co_yield i;
    }
  }
  static generator<int> cleans_up(std::vector<std::string>& order, bool fails) {
    bool struck = false;
    try {
      for (int i = 0;; ++i) co_yield i;
    } catch (const cancelled&) {
      struck = true;
    }
    co_await sleep_for(seconds(1));
    order.push_back("cleaned up");
    if (fails) throw std::runtime_error("clean-up failed");
    if (struck) throw cancelled();
  }
  static task<> prints(std::vector<std::string>& order, generator<int>& from) {
    while (true) {
      const auto one = co_await from.next();
      if (!one) break;
      order.push_back(std::to_string(*one));
    }
    order.push_back("end");
  }
};

TEST_F(Generator, YieldsEachValueAndThenNothingMore) {
  auto numbers = counts(order, 3, seconds(1));
  loop.run(prints(order, numbers));
  loop.run(prints(order, numbers));
  EXPECT_EQ(order, (words{"0", "1", "2", "gone", "end", "end"}));
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(Generator, RunsNothingAheadOfItsConsumer) {
  auto body = [](Generator& t) -> task<> {
    auto numbers = counts(t.order, 3, seconds(1));
    co_await sleep_for(seconds(5));
    EXPECT_EQ(co_await numbers.next(), 0);
    EXPECT_EQ(t.now(), seconds(6));
    co_await sleep_for(seconds(5));
    EXPECT_EQ(co_await numbers.next(), 1);
    EXPECT_EQ(t.now(), seconds(12));
  };
  loop.run(body(*this));
}

TEST_F(Generator, ThatIsDestroyedRunsTheDestructorsOfItsBody) {
  auto body = [](Generator& t) -> task<> {
    auto numbers = counts(t.order, 3, seconds(1));
    static_cast<void>(co_await numbers.next());
    t.note("leaves");
  };
  loop.run(body(*this));
  EXPECT_EQ(order, (words{"leaves", "gone"}));
  static_cast<void>(counts(order, 3, seconds(1)));  // never asked
}

TEST_F(Generator, MovesValuesThatCannotBeCopied) {
  struct source {
    static generator<std::unique_ptr<int>> of() {
      co_yield std::make_unique<int>(1);
      auto two = std::make_unique<int>(2);
      co_yield std::move(two);
    }
  };
  auto body = []() -> task<int> {
    auto from = source::of();
    int sum = 0;
    while (true) {
      const auto one = co_await from.next();
      if (!one) break;
      sum += **one;
    }
    co_return sum;
  };
  EXPECT_EQ(loop.run(body()), 3);
}

TEST_F(Generator, PassesOnWhatItsBodyThrowsAndHasEndedThen) {
  struct source {
    static generator<int> of() {
      co_yield 1;
      co_await sleep_for(seconds(1));
      throw std::runtime_error("boom");
    }
  };
  auto from = source::of();
  EXPECT_THROW(loop.run(prints(order, from)), std::runtime_error);
  loop.run(prints(order, from));
  EXPECT_EQ(order, (words{"1", "end"}));
}

TEST_F(Generator, ACancellationInsideReachesTheConsumer) {
  auto numbers = counts(order, 3, seconds(2));
  EXPECT_FALSE(loop.run(move_on_after(seconds(3), prints(order, numbers))));
  loop.run(prints(order, numbers));
  EXPECT_EQ(order, (words{"0", "gone", "end"}));
  EXPECT_EQ(now(), seconds(3));
}

TEST_F(Generator, InACancelledScopeIsNotAskedAndStaysAsItWas) {
  auto numbers = counts(order, 2, seconds(0));
  auto body = [](Generator& t, generator<int>& from) -> task<> {
    EXPECT_EQ(co_await from.next(), 0);
    cancel_scope scope(t.loop);
    scope.cancel();
    EXPECT_FALSE(co_await scope.run(prints(t.order, from)));
    EXPECT_EQ(co_await from.next(), 1);
  };
  loop.run(body(*this, numbers));
}

TEST_F(Generator, AValueThatCameBeforeTheCancellationIsDelivered) {
  struct source {
    static generator<int> of(cancel_scope& scope) {
      co_await sleep_for(seconds(1));
      scope.cancel();
      co_yield 1;
      co_yield 2;
    }
  };
  auto body = [](Generator& t) -> task<> {
    cancel_scope scope(t.loop);
    auto from = source::of(scope);
    EXPECT_FALSE(co_await scope.run(prints(t.order, from)));
    EXPECT_EQ(co_await from.next(), 2);
  };
  loop.run(body(*this));
  EXPECT_EQ(order, (words{"1"}));
}

TEST_F(Generator, CloseRunsACleanUpThatAwaits) {
  auto body = [](Generator& t) -> task<> {
    auto from = cleans_up(t.order, false);
    EXPECT_EQ(co_await from.next(), 0);
    co_await from.close();
    EXPECT_EQ(t.now(), seconds(1));
    EXPECT_EQ(co_await from.next(), std::nullopt);
    co_await from.close();
  };
  loop.run(body(*this));
  EXPECT_EQ(order, (words{"cleaned up"}));
}

TEST_F(Generator, CloseThrowsWhatTheCleanUpThrows) {
  auto body = [](Generator& t) -> task<> {
    auto from = cleans_up(t.order, true);
    EXPECT_EQ(co_await from.next(), 0);
    co_await from.close();
  };
  EXPECT_THROW(loop.run(body(*this)), std::runtime_error);
}

TEST_F(Generator, CloseOfOneThatHasNotBegunFreesItsFrame) {
  auto body = [](Generator& t) -> task<> {
    auto from = cleans_up(t.order, true);
    co_await from.close();
    EXPECT_EQ(co_await from.next(), std::nullopt);
  };
  loop.run(body(*this));
  EXPECT_EQ(order, words{});
}

TEST_F(Generator, MayFeedOnAnother) {
  struct source {
    static generator<int> doubles(generator<int> of) {
      while (true) {
        const auto one = co_await of.next();
        if (!one) break;
        co_yield 2 * *one;
      }
    }
  };
  auto twice = source::doubles(counts(order, 3, seconds(1)));
  loop.run(prints(order, twice));
  EXPECT_EQ(order, (words{"0", "2", "4", "gone", "end"}));
}

TEST_F(Generator, AValueThatThrowsWhenItIsTakenIsSkipped) {
  struct refuses {
    explicit refuses(int n) : value(n) {}
    refuses(refuses&& other) : value(other.value) {
      if (value == 1 && other.taken++ == 0) throw std::runtime_error("moved");
    }
    int value;
    int taken = 0;
  };
  struct source {
    static generator<refuses> of() {
      for (int i = 1; i < 3; ++i) {
        refuses one(i);
        one.taken = 1;  // into the generator; the next move is the consumer's
        co_yield std::move(one);
      }
    }
  };
  auto body = []() -> task<int> {
    auto from = source::of();
    bool threw = false;
    try {
      static_cast<void>(co_await from.next());
    } catch (const std::runtime_error&) {
      threw = true;
    }
    EXPECT_TRUE(threw);
    const auto second = co_await from.next();
    LT_REQUIRE(second.has_value());
    co_return second->value;
  };
  EXPECT_EQ(loop.run(body()), 2);
}

TEST_F(Generator, GoesWithTheLoopWhileItsBodyWaits) {
  auto outside = counts(order, 3, hours(1));
  auto inside = [](Generator& t) -> task<> {
    auto numbers = counts(t.order, 3, hours(1));
    co_await prints(t.order, numbers);
  };
  spawn(loop, prints(order, outside));
  spawn(loop, inside(*this));
  loop.run_once();
  owned.reset();
  EXPECT_EQ(order, (words{"gone", "gone"}));
}

TEST_F(Generator, AMillionValuesWithAFlatStackAndOneFrame) {
  struct source {
    static generator<int> of() {
      for (int i = 0; i < 1'000'000; ++i) co_yield i;
    }
  };
  auto body = []() -> task<int> {
    auto from = source::of();
    int count = 0;
    while (true) {
      const auto one = co_await from.next();
      if (!one) break;
      ++count;
    }
    co_return count;
  };
  EXPECT_EQ(loop.run(body()), 1'000'000);
}

}  // namespace
}  // namespace looptask
