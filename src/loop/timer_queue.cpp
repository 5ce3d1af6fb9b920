#include "loop/timer_queue.hpp"

#include <algorithm>

namespace looptask {
namespace {

std::uint64_t key_of(monotonic_time when) noexcept { return static_cast<std::uint64_t>(when.time_since_epoch().count()); }
monotonic_time time_of(std::uint64_t key) noexcept { return monotonic_time(duration(static_cast<std::int64_t>(key))); }

}  // namespace

timer_queue::timer_queue(monotonic_time now) noexcept
    : base_(key_of(std::max(now, monotonic_time{}))), wheel_(std::make_unique<std::array<level, levels>>()) {}

void timer_queue::place(timer& t) noexcept {
  const std::uint64_t key = key_of(t.deadline_);
  const auto at = static_cast<std::size_t>(63 - std::countl_zero((key ^ base_) | 1U)) / bits;
  const std::size_t slot = (key >> (bits * at)) & (slots - 1);
  level& l = (*wheel_)[at];
  l.slot[slot].push_back(t);
  l.occupied[slot / 64] |= std::uint64_t{1} << (slot % 64);
  occupied_levels_ |= 1U << at;
}

void timer_queue::insert(timer& t, monotonic_time when) noexcept {
  t.deadline_ = std::max(when, time_of(base_));
  place(t);
  ++size_;
}

void timer_queue::mark_empty(std::size_t level_index, std::size_t slot_index) noexcept {
  level& l = (*wheel_)[level_index];
  l.occupied[slot_index / 64] &= ~(std::uint64_t{1} << (slot_index % 64));
  if ((l.occupied[0] | l.occupied[1] | l.occupied[2] | l.occupied[3]) == 0) occupied_levels_ &= ~(1U << level_index);
}

void timer_queue::erase(timer& t) noexcept {
  // For a timer in due_ this may name a slot it was never in; that slot's mark is right all the same.
  const std::uint64_t key = key_of(t.deadline_);
  const auto at = static_cast<std::size_t>(63 - std::countl_zero((key ^ base_) | 1U)) / bits;
  const std::size_t slot = (key >> (bits * at)) & (slots - 1);
  t.unlink();
  --size_;
  if ((*wheel_)[at].slot[slot].empty()) mark_empty(at, slot);
}

std::size_t timer_queue::first_slot(std::size_t level_index) const noexcept {
  const auto& words = (*wheel_)[level_index].occupied;
  std::size_t word = 0;
  while (words[word] == 0) ++word;
  return word * 64 + static_cast<std::size_t>(std::countr_zero(words[word]));
}

// The first nanosecond of a slot that lies ahead of base_.
std::uint64_t timer_queue::start_of(std::size_t level_index, std::size_t slot_index) const noexcept {
  const std::size_t shift = bits * level_index;
  const std::uint64_t above = shift + bits < 64 ? base_ >> (shift + bits) << (shift + bits) : 0;
  return above | std::uint64_t{slot_index} << shift;
}

std::optional<monotonic_time> timer_queue::next() noexcept {
  if (!due_.empty()) return time_of(base_);
  if (occupied_levels_ == 0) return std::nullopt;
  const std::size_t at = first_level();
  const std::size_t slot = first_slot(at);
  if (at == 0) return time_of(start_of(at, slot));
  timer_list& members = (*wheel_)[at].slot[slot];
  timer* t = members.front();
  monotonic_time earliest = t->deadline_;
  for (int looked = 1; (t = members.next(*t)) != nullptr; ++looked) {
    if (looked == looked_at) return time_of(start_of(at, slot));
    earliest = std::min(earliest, t->deadline_);
  }
  return earliest;
}

void timer_queue::collect(monotonic_time now) noexcept {
  const std::uint64_t until = std::max(key_of(now), base_);
  while (occupied_levels_ != 0) {
    const std::size_t at = first_level();
    const std::size_t slot = first_slot(at);
    const std::uint64_t start = start_of(at, slot);
    if (start > until) break;
    timer_list members;
    members.splice_back((*wheel_)[at].slot[slot]);
    mark_empty(at, slot);
    base_ = std::max(base_, start);
    if (at == 0) {
      due_.splice_back(members);
    } else {
      while (timer* const t = members.pop_front()) place(*t);
    }
  }
  base_ = until;
}

timer* timer_queue::pop() noexcept {
  timer* const t = due_.pop_front();
  if (t != nullptr) --size_;
  return t;
}

timer* timer_queue::pop_any() noexcept {
  if (timer* const t = pop()) return t;
  if (occupied_levels_ == 0) return nullptr;
  timer* const t = (*wheel_)[first_level()].slot[first_slot(first_level())].front();
  erase(*t);
  return t;
}

}  // namespace looptask
