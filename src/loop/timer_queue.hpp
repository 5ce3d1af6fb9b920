#pragma once
// The armed timers of a loop: a hierarchical wheel over the nanoseconds of the deadline, eight levels of 256 slots.
//
// Owner: the loop's thread. Invariants: `base_` never passes an armed deadline; a timer lies at the level of the highest
// byte in which its deadline differs from base_, in the slot of that byte. So the lowest occupied slot of the lowest
// occupied level holds the earliest deadlines; a slot of level 0 is one single nanosecond; and since a slot is spread over
// lower levels before anything can be armed into them, timers of equal deadline stay in order of arming.
//
// insert and erase are O(1); a timer moves down at most seven times in its life. Nothing is allocated but the wheel itself.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <looptask/list.hpp>
#include <looptask/time.hpp>
#include <looptask/timer.hpp>

namespace looptask {

using timer_list = list<timer, timer_tag>;

class timer_queue {
 public:
  explicit timer_queue(monotonic_time now) noexcept;

  std::size_t size() const noexcept { return size_; }
  // `t` must be in no list. A deadline before the last collect() is moved there.
  void insert(timer& t, monotonic_time when) noexcept;
  void erase(timer& t) noexcept;  // also of a timer that collect() has handed out and that has not been popped
  // When collect() must be called next: the earliest deadline, or, if too many timers share a far slot to look at each, an
  // instant before it, at which the slot is spread.
  std::optional<monotonic_time> next() noexcept;
  // Makes ready for pop() all timers with deadlines up to `now`, in order of deadline, then of arming.
  void collect(monotonic_time now) noexcept;
  timer* pop() noexcept;      // the next of what collect() found, in no list; nullptr if there is none
  timer* pop_any() noexcept;  // the next of all timers, in no order; nullptr if there is none

 private:
  static constexpr unsigned bits = 8;
  static constexpr std::size_t slots = std::size_t{1} << bits;
  static constexpr std::size_t levels = 8;
  static constexpr int looked_at = 32;  // timers of one slot that next() looks at

  struct level {
    std::array<std::uint64_t, slots / 64> occupied{};
    std::array<timer_list, slots> slot;
  };

  void place(timer& t) noexcept;
  void mark_empty(std::size_t level_index, std::size_t slot_index) noexcept;
  std::size_t first_level() const noexcept { return static_cast<std::size_t>(std::countr_zero(occupied_levels_)); }
  std::size_t first_slot(std::size_t level_index) const noexcept;
  std::uint64_t start_of(std::size_t level_index, std::size_t slot_index) const noexcept;

  std::uint64_t base_;
  unsigned occupied_levels_ = 0;
  std::size_t size_ = 0;
  timer_list due_;
  std::unique_ptr<std::array<level, levels>> wheel_;
};

}  // namespace looptask
