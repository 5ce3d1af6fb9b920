#pragma once
// The cross-thread door of a loop, without locks: what other threads push, one consumer takes, and the consumer is woken only
// if it has said that it sleeps. The one lock-free structure of the runtime. `Atomics` exists so that an exhaustive explorer of
// interleavings (tests/mailbox) can run this very code: it names the atomic type and how to wait for another thread.
//
// All of the state is one word: the newest of what waits (a stack, linked towards the oldest), or one of three marks: nothing
// waits and the consumer is awake; nothing waits and it sleeps; closed. Whoever replaces the mark `asleep` wakes the consumer,
// so there is exactly one wake for each sleep that mail ends. Producers only add by compare-and-exchange, the consumer takes
// all by one exchange: a link that comes back at the same address is the head again, so there is no ABA.
//
// What must stay true:
//   - A producer raises `waking_` before it can replace `asleep`, and lowers it after wake(). close() makes the word `closed`
//     first and then waits for `waking_` to be zero: the reactor is not touched afterwards.
//   - stop_asked and the mark are written and read crosswise (request_stop: flag, then word; fall_asleep: word, then flag), all
//     four sequentially consistent: at least one of the two sees the other.
#include <atomic>
#include <cstdint>
#include <thread>

namespace looptask {

struct mail_link {
  mail_link* next = nullptr;
};

struct thread_atomics {
  template <class T>
  using atomic = std::atomic<T>;
  static void pause() noexcept { std::this_thread::yield(); }
};

template <class Reactor, class Atomics = thread_atomics>
class mail_queue {
 public:
  explicit mail_queue(Reactor& reactor) noexcept : reactor_(reactor) {}
  mail_queue(const mail_queue&) = delete;
  mail_queue& operator=(const mail_queue&) = delete;

  // Any thread. False: closed, `mail` is still the caller's.
  bool push(mail_link& mail) noexcept {
    std::uintptr_t head = head_.load(std::memory_order_relaxed);
    while (true) {
      if (head == closed) return false;
      mail.next = link_of(head);
      const bool sleeps = head == asleep;
      if (sleeps) waking_.fetch_add(1, std::memory_order_relaxed);
      const bool pushed = head_.compare_exchange_weak(head, reinterpret_cast<std::uintptr_t>(&mail), std::memory_order_acq_rel,
                                                      std::memory_order_relaxed);
      if (sleeps) {
        if (pushed) reactor_.wake();
        waking_.fetch_sub(1, std::memory_order_release);
      }
      if (pushed) return true;
    }
  }
  // Any thread. False: closed.
  bool request_stop() noexcept {
    stop_.store(true, std::memory_order_seq_cst);
    waking_.fetch_add(1, std::memory_order_relaxed);
    std::uintptr_t expected = asleep;
    if (head_.compare_exchange_strong(expected, awake, std::memory_order_seq_cst, std::memory_order_seq_cst)) reactor_.wake();
    waking_.fetch_sub(1, std::memory_order_release);
    return expected != closed;
  }

  // The consumer's from here on.
  bool filled() const noexcept { return head_.load(std::memory_order_relaxed) > closed; }
  bool stop_asked() const noexcept { return stop_.load(std::memory_order_relaxed); }
  bool consume_stop() noexcept { return stop_asked() && stop_.exchange(false, std::memory_order_relaxed); }
  // All that waits, oldest first. Not while asleep.
  mail_link* take() noexcept { return oldest_first(head_.exchange(awake, std::memory_order_acquire)); }
  // False: there is mail or a request to stop; it stays awake.
  bool fall_asleep() noexcept {
    std::uintptr_t expected = awake;
    if (!head_.compare_exchange_strong(expected, asleep, std::memory_order_seq_cst, std::memory_order_seq_cst)) return false;
    if (!stop_.load(std::memory_order_seq_cst)) return true;
    wake_up();
    return false;
  }
  void wake_up() noexcept {  // does nothing if it does not sleep
    std::uintptr_t expected = asleep;
    if (head_.load(std::memory_order_relaxed) != asleep) return;
    head_.compare_exchange_strong(expected, awake, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  // Nothing is accepted from here on, and when it returns nobody touches the reactor any more. What waited, oldest first.
  mail_link* close() noexcept {
    mail_link* const rest = oldest_first(head_.exchange(closed, std::memory_order_acq_rel));
    while (waking_.load(std::memory_order_acquire) != 0) Atomics::pause();
    return rest;
  }

 protected:  // and not private, so that the tests can derive faulty ones, to see that the explorer finds the fault
  static constexpr std::uintptr_t awake = 0;
  static constexpr std::uintptr_t asleep = 1;
  static constexpr std::uintptr_t closed = 2;  // and above: addresses

  static mail_link* link_of(std::uintptr_t head) noexcept {
    return head > closed ? reinterpret_cast<mail_link*>(head) : nullptr;  // NOLINT(performance-no-int-to-ptr)
  }
  static mail_link* oldest_first(std::uintptr_t head) noexcept {
    mail_link* first = nullptr;
    for (mail_link* at = link_of(head); at != nullptr;) {
      mail_link* const next = at->next;
      at->next = first;
      first = at;
      at = next;
    }
    return first;
  }

  template <class T>
  using atomic = typename Atomics::template atomic<T>;
  atomic<std::uintptr_t> head_{awake};
  atomic<bool> stop_{false};
  atomic<int> waking_{0};  // threads that may be about to wake the reactor
  Reactor& reactor_;
};

}  // namespace looptask
