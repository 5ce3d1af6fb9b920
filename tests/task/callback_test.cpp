#include <looptask/callback.hpp>

#include <optional>
#include <stdexcept>

#include "task/world.hpp"

namespace looptask {
namespace {

struct Callback : in_a_world {
  std::optional<completion<int>> asked;
  int aborted = 0;

  task<> asks(bool can_be_called_off) {
    auto start = [this, can_be_called_off](completion<int> done) {
      asked.emplace(std::move(done));
      return [this, can_be_called_off] {
        ++aborted;
        return can_be_called_off;
      };
    };
    try {
      const int n = co_await await_callback<int>(start);
      result = std::to_string(n);
    } catch (const std::exception& e) {
      result = e.what();
    } catch (const cancelled&) {
      result = "cancelled";
    }
  }
  std::string result = "nothing";
};

TEST_F(Callback, ResumesWithTheValue) {
  spawn(loop, asks(true));
  loop.call_later(seconds(1), [&] { asked->set_value(5); });
  loop.run();
  EXPECT_EQ(result, "5");
  EXPECT_EQ(aborted, 0);
}

TEST_F(Callback, ThrowsTheError) {
  spawn(loop, asks(true));
  loop.call_later(seconds(1), [&] { asked->set_error(std::make_exception_ptr(std::runtime_error("no answer"))); });
  loop.run();
  EXPECT_EQ(result, "no answer");
}

TEST_F(Callback, ADroppedCompletionIsAnErrorAndNotAWaitForEver) {
  spawn(loop, asks(true));
  loop.call_later(seconds(1), [&] { asked.reset(); });
  loop.run();
  EXPECT_NE(result.find("dropped"), std::string::npos);
}

TEST_F(Callback, MaySettleInsideStart) {
  auto body = [](std::string& r) -> task<> {
    auto start = [](completion<int> done) { done.set_value(3); };
    const int n = co_await await_callback<int>(start);
    r = std::to_string(n);
  };
  loop.run(body(result));
  EXPECT_EQ(result, "3");
}

TEST_F(Callback, ThrowsWhatStartThrows) {
  auto body = [](std::string& r) -> task<> {
    auto start = [](completion<> done) {
      const completion<> kept = std::move(done);
      throw std::runtime_error("cannot start");
    };
    try {
      co_await await_callback(start);
    } catch (const std::runtime_error& e) {
      r = e.what();
    }
  };
  loop.run(body(result));
  EXPECT_EQ(result, "cannot start");
}

TEST_F(Callback, CancelledBeforeItBeginsStartsNothing) {
  cancel_scope scope(loop);
  scope.cancel();
  spawn(loop, scope, asks(true), [](outcome<>) {});
  loop.run();
  EXPECT_EQ(result, "cancelled");
  EXPECT_FALSE(asked.has_value());
}

TEST_F(Callback, CalledOffItEndsAtOnceAndALateValueIsIgnored) {
  cancel_scope scope(loop);
  spawn(loop, scope, asks(true), [](outcome<>) {});
  loop.call_later(seconds(1), [&] { scope.cancel(); });
  loop.call_later(seconds(2), [&] {
    EXPECT_EQ(result, "cancelled");
    EXPECT_FALSE(asked->wanted());
    asked->set_value(5);
  });
  loop.run();
  EXPECT_EQ(result, "cancelled");
  EXPECT_EQ(aborted, 1);
}

TEST_F(Callback, WhatCannotBeCalledOffDeliversItsValueAndTheHookIsAskedOnce) {
  cancel_scope scope(loop);
  spawn(loop, scope, asks(false), [](outcome<>) {});
  loop.call_later(seconds(1), [&] { scope.cancel(); });
  loop.call_later(seconds(2), [&] { EXPECT_EQ(result, "nothing"); });
  loop.call_later(seconds(3), [&] { asked->set_value(5); });
  loop.run();
  EXPECT_EQ(result, "5");
  EXPECT_EQ(aborted, 1);
}

// What is started may be what cancels.
TEST_F(Callback, ACancellationThatComesWhileItStartsReachesTheHook) {
  auto body = [](looptask::loop& l, bool can_be_called_off, std::vector<std::string>& o) -> task<> {
    std::optional<completion<>> slot;
    auto awaits = [](cancel_scope& s, bool called_off, std::optional<completion<>>& where,
                     std::vector<std::string>& to) -> task<> {
      auto start = [&, called_off](completion<> done) {
        where.emplace(std::move(done));
        s.cancel();
        return [&to, called_off] {
          to.push_back("asked");
          return called_off;
        };
      };
      co_await await_callback(start);
      to.push_back("answered");
    };
    cancel_scope scope(l);
    l.call_later(seconds(1), [&slot] {
      if (slot->wanted()) slot->set_value();
    });
    const bool done = co_await scope.run(awaits(scope, can_be_called_off, slot, o));
    o.push_back(done ? "done" : "cancelled");
    co_await sleep_for(seconds(2));
  };
  loop.run(body(loop, true, order));
  loop.run(body(loop, false, order));
  EXPECT_EQ(order, (words{"asked", "cancelled", "asked", "answered", "done"}));
}

TEST_F(Callback, ACancellationAfterTheValueComesTooLate) {
  cancel_scope scope(loop);
  spawn(loop, scope, asks(true), [](outcome<>) {});
  loop.call_later(seconds(1), [&] {
    asked->set_value(5);
    scope.cancel();
  });
  loop.run();
  EXPECT_EQ(result, "5");
  EXPECT_EQ(aborted, 0);
}

// The hook drops the completion, as a library does that frees its request.
TEST_F(Callback, AHookThatDropsTheCompletionIsStillACancellation) {
  auto body = [](std::optional<completion<>>& slot, std::string& r) -> task<> {
    auto start = [&slot](completion<> done) {
      slot.emplace(std::move(done));
      return [&slot] {
        slot.reset();
        return true;
      };
    };
    try {
      co_await await_callback(start);
    } catch (const cancelled&) {
      r = "cancelled";
    }
  };
  std::optional<completion<>> slot;
  cancel_scope scope(loop);
  spawn(loop, scope, body(slot, result), [](outcome<>) {});
  loop.call_later(seconds(1), [&] { scope.cancel(); });
  loop.run();
  EXPECT_EQ(result, "cancelled");
}

TEST_F(Callback, AHookThatSettlesAndSaysNoDelivers) {
  auto body = [](std::optional<completion<int>>& slot, std::string& r) -> task<> {
    auto start = [&slot](completion<int> done) {
      slot.emplace(std::move(done));
      return [&slot] {
        slot->set_value(9);
        return false;
      };
    };
    const int n = co_await await_callback<int>(start);
    r = std::to_string(n);
  };
  std::optional<completion<int>> slot;
  cancel_scope scope(loop);
  spawn(loop, scope, body(slot, result), [](outcome<>) {});
  loop.call_later(seconds(1), [&] { scope.cancel(); });
  loop.run();
  EXPECT_EQ(result, "9");
}

TEST_F(Callback, IsCalledOffWhenItsTaskIsDestroyedWithTheLoop) {
  spawn(loop, asks(false));
  loop.call_later(seconds(1), [&] { loop.stop(); });
  loop.run();
  owned.reset();
  EXPECT_EQ(aborted, 1);
  EXPECT_FALSE(asked->wanted());
  asked->set_value(1);
  EXPECT_EQ(result, "nothing");
}

}  // namespace
}  // namespace looptask
