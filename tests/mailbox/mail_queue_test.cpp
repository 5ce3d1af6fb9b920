#include "loop/mail_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "mailbox/explorer.hpp"

namespace looptask {
namespace {

constexpr auto any_order = std::memory_order_seq_cst;

// Explored on one thread, where the thread sanitizer sees nothing but makes each switch of fibers a hundred times slower.
#if defined(__SANITIZE_THREAD__)
constexpr int turns_before_the_end = 1;
#else
constexpr int turns_before_the_end = 2;
#endif

// The consumer's bed: wake() is a step like any other, and forbidden once the loop is gone.
struct bell {
  explored<bool> rung{false};
  explored<bool> gone{false};

  void wake() noexcept {
    if (gone.load(any_order)) explorer::current().fail("the reactor was woken after close()");
    rung.store(true, any_order);
  }
  void sleep() {
    explorer::current().wait_for([this] { return rung.peek(); });
    rung.exchange(false, any_order);
  }
};

using sound = mail_queue<bell, explored_atomics>;

struct raises_the_counter_too_late : sound {
  using sound::sound;
  bool push(mail_link& mail) noexcept {
    std::uintptr_t head = head_.load(any_order);
    while (head != closed) {
      mail.next = link_of(head);
      const bool sleeps = head == asleep;
      if (!head_.compare_exchange_weak(head, reinterpret_cast<std::uintptr_t>(&mail), any_order, any_order)) continue;
      if (sleeps) {
        waking_.fetch_add(1, any_order);
        reactor_.wake();
        waking_.fetch_sub(1, any_order);
      }
      return true;
    }
    return false;
  }
};

struct sleeps_without_asking_for_a_stop : sound {
  using sound::sound;
  bool fall_asleep() noexcept {
    if (stop_.load(any_order)) return false;
    std::uintptr_t expected = awake;
    return head_.compare_exchange_strong(expected, asleep, any_order, any_order);
  }
};

struct sleeps_over_mail : sound {
  using sound::sound;
  bool fall_asleep() noexcept {
    if (filled() || stop_asked()) return false;
    head_.store(asleep, any_order);
    return true;
  }
};

struct wakes_nobody : sound {
  using sound::sound;
  bool push(mail_link& mail) noexcept {
    std::uintptr_t head = head_.load(any_order);
    do {
      if (head == closed) return false;
      mail.next = link_of(head);
    } while (!head_.compare_exchange_weak(head, reinterpret_cast<std::uintptr_t>(&mail), any_order, any_order));
    return true;
  }
};

struct hands_out_the_newest_first : sound {
  using sound::sound;
  mail_link* take() noexcept { return link_of(head_.exchange(awake, any_order)); }
};

struct message : mail_link {
  int producer = 0;
  int number = 0;
};

// What one execution does and what came of it. The words and messages lie at the same addresses in each: states compare.
template <class Queue>
struct house {
  bell door;
  Queue queue{door};
  std::array<message, 3> messages;
  std::vector<const message*> ran;
  std::vector<const message*> destroyed;
  int accepted = 0;
  int refused = 0;
  bool stop_seen = false;

  void produce(std::size_t first, std::size_t count, int producer) {
    for (std::size_t i = first; i < first + count; ++i) {
      explorer::current().knows_only(i * 100 + static_cast<std::size_t>(accepted * 10 + refused));
      messages[i].producer = producer;
      messages[i].number = static_cast<int>(i);
      ++(queue.push(messages[i]) ? accepted : refused);
    }
  }
  void run_mail() {
    for (mail_link* at = queue.filled() ? queue.take() : nullptr; at != nullptr; at = at->next) {
      ran.push_back(static_cast<message*>(at));
    }
  }
  // Turns of a loop until `enough`; it sleeps until it is woken.
  template <class Enough>
  void consume(Enough enough) {
    while (!turn(enough)) {
      if (!queue.fall_asleep()) continue;
      door.sleep();
      queue.wake_up();
    }
  }
  // So many turns, in which it has a timer: it wakes up by itself.
  void consume_turns(int turns) {
    while (turns-- > 0) {
      turn([] { return false; });
      if (queue.fall_asleep()) queue.wake_up();
      explorer::current().knows_only(digest() * 10 + static_cast<unsigned>(turns));
    }
  }
  template <class Enough>
  bool turn(Enough enough) {
    run_mail();
    if (queue.stop_asked()) stop_seen = true;
    explorer::current().knows_only(digest());
    return enough();
  }
  std::uint64_t digest() const {
    std::uint64_t all = stop_seen ? 2 : 1;
    for (const message* m : ran) all = all * 10 + static_cast<unsigned>(m->number) + 1;
    return all;
  }
  void close() {
    for (mail_link* at = queue.close(); at != nullptr; at = at->next) destroyed.push_back(static_cast<message*>(at));
    door.gone.store(true, any_order);
  }
  std::string fault() const {
    if (ran.size() + destroyed.size() != static_cast<std::size_t>(accepted))
      return "accepted is not what ran and was destroyed";
    std::vector<const message*> all(ran);
    all.insert(all.end(), destroyed.begin(), destroyed.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = i + 1; k < all.size(); ++k) {
        if (all[i] == all[k]) return "one message came twice";
        if (all[i]->producer == all[k]->producer && all[i]->number > all[k]->number) return "out of order";
      }
    }
    return {};
  }
};

// Made at one address for all executions.
template <class Queue>
house<Queue>& new_house() {
  static std::aligned_storage_t<sizeof(house<Queue>), alignof(house<Queue>)> place;
  static house<Queue>* lives = nullptr;
  if (lives != nullptr) std::destroy_at(lives);
  lives = ::new (&place) house<Queue>();
  return *lives;
}

template <class Queue>
explorer::program one_after_the_other() {
  house<Queue>& h = new_house<Queue>();
  return {{[&h] { h.produce(0, 3, 1); },
           [&h] {
             h.consume([&h] { return h.ran.size() == 3; });
             h.close();
           }},
          [&h] { return h.accepted == 3 ? h.fault() : "a message was refused by an open queue"; }};
}

template <class Queue>
explorer::program two_at_once() {
  house<Queue>& h = new_house<Queue>();
  return {{[&h] { h.produce(0, 1, 1); }, [&h] { h.produce(1, 1, 2); },
           [&h] {
             h.consume([&h] { return h.ran.size() == 2; });
             h.close();
           }},
          [&h] { return h.accepted == 2 ? h.fault() : "a message was refused by an open queue"; }};
}

template <class Queue>
explorer::program closed_in_the_middle() {
  house<Queue>& h = new_house<Queue>();
  return {{[&h] { h.produce(0, 1, 1); }, [&h] { h.produce(1, 1, 2); },
           [&h] {
             h.consume_turns(turns_before_the_end);
             h.close();
           }},
          [&h] { return h.accepted + h.refused == 2 ? h.fault() : "lost"; }};
}

template <class Queue>
explorer::program stopped() {
  house<Queue>& h = new_house<Queue>();
  return {{[&h] { h.produce(0, 1, 1); }, [&h] { h.queue.request_stop(); },
           [&h] {
             h.consume([&h] { return h.stop_seen; });
             h.close();
           }},
          [&h] { return h.fault(); }};
}

template <class Queue>
std::string explored_fault(explorer::program (*make)()) {
  static explorer all;
  const explorer::findings found = all.explore(make);
  ::testing::Test::RecordProperty("executions", std::to_string(found.executions));
  if (std::is_same_v<Queue, sound>) {
    EXPECT_GT(found.states, 100U) << "nearly nothing was explored";
  }
  return found.fault;
}

TEST(MailQueue, InEveryOrderEverythingPushedIsTakenOnceAndInItsProducersOrder) {
  EXPECT_EQ(explored_fault<sound>(one_after_the_other<sound>), "");
  EXPECT_EQ(explored_fault<sound>(two_at_once<sound>), "");
}

TEST(MailQueue, InEveryOrderWhatIsPushedAroundTheEndIsTakenOrRefusedAndNobodyRingsAfterwards) {
  EXPECT_EQ(explored_fault<sound>(closed_in_the_middle<sound>), "");
}

TEST(MailQueue, InEveryOrderAStopIsSeen) { EXPECT_EQ(explored_fault<sound>(stopped<sound>), ""); }

TEST(MailQueue, TheExplorerFindsEachPlantedFault) {
  EXPECT_NE(explored_fault<raises_the_counter_too_late>(closed_in_the_middle<raises_the_counter_too_late>), "");
  EXPECT_NE(explored_fault<sleeps_without_asking_for_a_stop>(stopped<sleeps_without_asking_for_a_stop>), "");
  EXPECT_NE(explored_fault<sleeps_over_mail>(one_after_the_other<sleeps_over_mail>), "");
  EXPECT_NE(explored_fault<wakes_nobody>(one_after_the_other<wakes_nobody>), "");
  EXPECT_NE(explored_fault<hands_out_the_newest_first>(one_after_the_other<hands_out_the_newest_first>), "");
}

}  // namespace
}  // namespace looptask
