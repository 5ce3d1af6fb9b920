// channel<T> against what its documentation says, in plain containers: any order of senders, receivers, cancellations, and a
// close, with and without a turn of the loop in between.
#include <looptask/channel.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>

#include "sync/trials.hpp"

namespace looptask {
namespace {

class model {
 public:
  explicit model(std::size_t capacity) : capacity_(capacity) {}

  void send(int value) {
    outcomes.emplace_back("waits");
    const std::size_t who = outcomes.size() - 1;
    if (closed_) {
      outcomes[who] = "closed";
    } else if (try_send(value)) {
      outcomes[who] = "sent";
    } else {
      senders_.push_back({who, value});
    }
  }
  void receive() {
    outcomes.emplace_back("waits");
    const std::size_t who = outcomes.size() - 1;
    const std::string got = try_receive();
    if (got == "nothing" && !closed_) {
      receivers_.push_back(who);
    } else {
      outcomes[who] = got;
    }
  }
  bool try_send(int value) {
    if (!receivers_.empty()) {
      outcomes[receivers_.front()] = std::to_string(value);
      receivers_.pop_front();
    } else if (held_.size() < capacity_) {
      held_.push_back(value);
    } else {
      return false;
    }
    return true;
  }
  std::string try_receive() {
    if (!senders_.empty()) {  // as if there were one place more for a moment
      held_.push_back(senders_.front().value);
      outcomes[senders_.front().who] = "sent";
      senders_.pop_front();
    }
    if (held_.empty()) return "nothing";
    const int value = held_.front();
    held_.pop_front();
    return std::to_string(value);
  }
  void cancel(std::size_t who) {
    if (outcomes[who] != "waits") return;
    outcomes[who] = "cancelled";
    std::erase(receivers_, who);
    std::erase_if(senders_, [who](const sender& s) { return s.who == who; });
  }
  void close() {
    closed_ = true;
    for (const sender& s : senders_) outcomes[s.who] = "closed";
    for (const std::size_t who : receivers_) outcomes[who] = "nothing";
    senders_.clear();
    receivers_.clear();
  }
  std::size_t held() const { return held_.size(); }
  std::size_t senders() const { return senders_.size(); }
  std::size_t receivers() const { return receivers_.size(); }

  std::vector<std::string> outcomes;

 private:
  struct sender {
    std::size_t who;
    int value;
  };
  const std::size_t capacity_;
  bool closed_ = false;
  std::deque<int> held_;
  std::deque<sender> senders_;
  std::deque<std::size_t> receivers_;
};

using boxed = std::unique_ptr<int>;

task<std::string> sends(channel<boxed>& to, int value) {
  try {
    co_await to.send(std::make_unique<int>(value));
  } catch (const channel_closed&) {
    co_return "closed";
  }
  co_return "sent";
}
task<std::string> receives(channel<boxed>& from) {
  const auto got = co_await from.receive();
  co_return got ? std::to_string(**got) : "nothing";
}

// Below 100 a send, a receive, a try of either, a cancellation of somebody, or a run of the loop; rarely a close.
void carry_out(int action, channel<boxed>& line, trials& real, model& expected) {
  const int value = action;
  switch (action % 12) {
    case 0:
    case 1:
    case 2:
      real.start(sends(line, value));
      real.run();
      return expected.send(value);
    case 3:
    case 4:
    case 5:
      real.start(receives(line));
      real.run();
      return expected.receive();
    case 6:
    case 7:
      if (!line.is_closed()) RC_ASSERT(line.try_send(std::make_unique<int>(value)) == expected.try_send(value));
      return;
    case 8:
    case 9: {
      const auto got = line.try_receive();
      RC_ASSERT((got ? std::to_string(**got) : "nothing") == expected.try_receive());
      return;
    }
    case 10:
      if (real.size() == 0) return;
      real.cancel(static_cast<std::size_t>(value) % real.size());
      return expected.cancel(static_cast<std::size_t>(value) % real.size());
    default:
      if (value % 10 != 0) return real.run();
      line.close();
      expected.close();
  }
}

RC_GTEST_PROP(ChannelModel, AgreesWithPlainQueues, ()) {
  const auto capacity = *rc::gen::inRange<std::size_t>(0, 4);
  const auto actions = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1200));
  channel<boxed> line(capacity);
  trials real;
  model expected(capacity);
  for (const int action : actions) {
    carry_out(action, line, real, expected);
    const channel_statistics now = line.statistics();
    RC_ASSERT(now.held == expected.held());
    RC_ASSERT(now.most_held <= capacity);
    RC_ASSERT(now.senders.waiting == expected.senders());
    RC_ASSERT(now.receivers.waiting == expected.receivers());
  }
  if (actions.size() % 2 == 0) {
    real.run();
    RC_ASSERT(real.outcomes() == expected.outcomes);
    real.cancel_all();
    real.run();
  }
  real.end_of_loop();
  RC_ASSERT(line.statistics().senders.waiting + line.statistics().receivers.waiting == 0U);
  RC_ASSERT(real.nothing_left());
}

}  // namespace
}  // namespace looptask
