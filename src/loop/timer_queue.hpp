#pragma once
// The armed timers of a loop: a hierarchical wheel over the nanoseconds of the deadline, eight levels of 256 slots.
//
// Owner: the loop's thread. Invariants: `base_` never passes an armed deadline; a timer lies at the level of the highest
// byte in which its deadline differs from base_, in the slot of that byte. So the lowest occupied slot of the lowest
// occupied level holds the earliest deadlines; a slot of level 0 is one single nanosecond; and since a slot is spread over
// lower levels before anything can be armed into them, timers of equal deadline stay in order of arming.
//
// insert and erase are O(1); a timer moves down at most seven times in its life. Nothing is allocated for a timer; the list of
// those that are due keeps its memory for the next time.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <looptask/assert.hpp>
#include <looptask/time.hpp>
#include <looptask/timer.hpp>

namespace looptask {

class timer_queue {
 public:
  explicit timer_queue(monotonic_time now);

  std::size_t size() const noexcept { return size_; }
  // `t` must not be armed. A deadline before the last collect() is moved there.
  void insert(timer& t, monotonic_time when) noexcept {
    t.deadline_ = std::max(when, time_of(base_));
    place(t);
    ++size_;
  }
  void erase(timer& t) noexcept;  // also of a timer that is due and has not been popped
  // When collect() must be called next: the earliest deadline, or, if too many timers share a far slot to look at each, an
  // instant before it, at which the slot is spread.
  std::optional<monotonic_time> next() const noexcept;
  // Whether collect(now) would find a timer, or a slot to be spread. O(1).
  bool due(monotonic_time now) const noexcept { return occupied_levels_ != 0 && start_of(first()) <= key_of(now); }
  // Makes ready for pop() all timers with deadlines up to `now`, in order of deadline, then of arming. Those of the call before
  // must have been popped.
  void collect(monotonic_time now);
  timer* pop() noexcept;      // the next of what collect() found, no longer armed; nullptr if there is none
  timer* pop_any() noexcept;  // the next of all timers, in no order; nullptr if there is none

 private:
  using links = detail::timer_links;
  struct due_timer {
    std::uint64_t key;
    timer* which;  // nullptr: erased since
  };

  static constexpr unsigned bits = 8;
  static constexpr std::size_t slots = std::size_t{1} << bits;
  static constexpr std::size_t levels = 8;
  static constexpr int looked_at = 32;           // timers of one slot that next() looks at
  static constexpr std::size_t taken_whole = 3;  // slots up to this level are sorted rather than spread if all of them is due

  struct level {
    std::array<std::uint64_t, slots / 64> occupied{};
    std::array<links, slots> slot;  // each the head of a ring
  };
  struct place_in_wheel {
    std::size_t level;
    std::size_t slot;
  };

  static std::uint64_t key_of(monotonic_time when) noexcept {
    return static_cast<std::uint64_t>(when.time_since_epoch().count());
  }
  static monotonic_time time_of(std::uint64_t key) noexcept { return monotonic_time(duration(static_cast<std::int64_t>(key))); }
  static timer& timer_at(links* l) noexcept { return static_cast<timer&>(*l); }
  static std::uint64_t key_at(links* l) noexcept { return key_of(timer_at(l).deadline_); }

  place_in_wheel where(std::uint64_t key) const noexcept {
    const auto at = static_cast<std::size_t>(63 - std::countl_zero((key ^ base_) | 1U)) / bits;
    return {at, (key >> (bits * at)) & (slots - 1)};
  }
  void place(timer& t) noexcept {
    const auto [at, slot] = where(key_of(t.deadline_));
    level& l = (*wheel_)[at];
    links& head = l.slot[slot];
    t.next = &head;
    t.previous = head.previous;
    head.previous->next = &t;
    head.previous = &t;
    l.occupied[slot / 64] |= std::uint64_t{1} << (slot % 64);
    occupied_levels_ |= 1U << at;
  }
  void mark_empty(place_in_wheel at) noexcept;
  std::size_t next_occupied(const level& l, std::size_t from) const noexcept;  // `slots` if there is none
  place_in_wheel first() const noexcept;
  std::uint64_t start_of(place_in_wheel at) const noexcept;  // its first nanosecond, if it lies ahead of base_
  std::size_t fetch_slots(place_in_wheel at, std::uint64_t until) const noexcept;
  void take_due(links* members, links& head, std::size_t level_index);
  void order_due(std::size_t from, std::size_t level_index);

  std::uint64_t base_;
  unsigned occupied_levels_ = 0;
  std::size_t size_ = 0;
  std::size_t popped_ = 0;      // of due_
  std::vector<due_timer> due_;  // found by collect(), in order
  std::vector<due_timer> sorting_;
  std::unique_ptr<std::array<level, levels>> wheel_;
};

}  // namespace looptask
