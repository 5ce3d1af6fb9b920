#include "loop/timer_queue.hpp"

#include <utility>

namespace looptask {
namespace {

constexpr std::size_t kept_due = 16384;  // entries for which memory is kept from one collect() to the next

}  // namespace

timer_queue::timer_queue(monotonic_time now)
    : base_(key_of(std::max(now, monotonic_time{}))), wheel_(std::make_unique<std::array<level, levels>>()) {
  for (level& l : *wheel_) {
    for (links& head : l.slot) head.next = head.previous = &head;
  }
}

void timer_queue::mark_empty(place_in_wheel at) noexcept {
  level& l = (*wheel_)[at.level];
  l.occupied[at.slot / 64] &= ~(std::uint64_t{1} << (at.slot % 64));
  if ((l.occupied[0] | l.occupied[1] | l.occupied[2] | l.occupied[3]) == 0) occupied_levels_ &= ~(1U << at.level);
}

void timer_queue::erase(timer& t) noexcept {
  --size_;
  if (t.next == &t) {
    due_[t.due_index].which = nullptr;
  } else {
    t.previous->next = t.next;
    t.next->previous = t.previous;
    if (t.next == t.previous) mark_empty(where(key_of(t.deadline_)));  // the head of a ring that is empty now
  }
  t.next = nullptr;
}

std::size_t timer_queue::next_occupied(const level& l, std::size_t from) const noexcept {
  std::size_t word = from / 64;
  if (word == l.occupied.size()) return slots;
  std::uint64_t bits_left = l.occupied[word] >> (from % 64) << (from % 64);
  while (bits_left == 0) {
    if (++word == l.occupied.size()) return slots;
    bits_left = l.occupied[word];
  }
  return word * 64 + static_cast<std::size_t>(std::countr_zero(bits_left));
}

timer_queue::place_in_wheel timer_queue::first() const noexcept {
  const auto at = static_cast<std::size_t>(std::countr_zero(occupied_levels_));
  return {at, next_occupied((*wheel_)[at], 0)};
}

std::uint64_t timer_queue::start_of(place_in_wheel at) const noexcept {
  const std::size_t shift = bits * at.level;
  const std::uint64_t above = shift + bits < 64 ? base_ >> (shift + bits) << (shift + bits) : 0;
  return above | std::uint64_t{at.slot} << shift;
}

std::optional<monotonic_time> timer_queue::next() const noexcept {
  if (popped_ < due_.size()) return time_of(base_);
  if (occupied_levels_ == 0) return std::nullopt;
  const place_in_wheel at = first();
  if (at.level == 0) return time_of(start_of(at));
  links& head = (*wheel_)[at.level].slot[at.slot];
  std::uint64_t earliest = key_at(head.next);
  int looked = 1;
  for (links* l = head.next->next; l != &head; l = l->next) {
    if (++looked > looked_at) return time_of(start_of(at));
    earliest = std::min(earliest, key_at(l));
  }
  return time_of(earliest);
}

void timer_queue::collect(monotonic_time now) {
  LOOPTASK_ASSERT(popped_ == due_.size(), "collect() while timers are due");
  due_.clear();
  popped_ = 0;
  const std::uint64_t until = std::max(key_of(now), base_);
  std::size_t fetched = 0;  // slots, this one and those after it
  while (occupied_levels_ != 0) {
    const place_in_wheel at = first();
    const std::uint64_t start = start_of(at);
    if (start > until) break;
    if (fetched == 0) fetched = fetch_slots(at, until);
    --fetched;
    links& head = (*wheel_)[at.level].slot[at.slot];
    links* const members = std::exchange(head.next, &head);
    head.previous = &head;
    mark_empty(at);
    base_ = std::max(base_, start);
    const std::uint64_t last = start | ((std::uint64_t{1} << (bits * at.level)) - 1);
    if (at.level <= taken_whole && last <= until) {  // all of it is due: there is no need to spread it first
      take_due(members, head, at.level);
    } else {
      for (links* l = members; l != &head;) place(timer_at(std::exchange(l, l->next)));
    }
  }
  base_ = until;
}

// Brings the timers of slot `at`, and of those after it that begin by `until`, into the cache: of so many slots as it returns.
// A ring is a chain of addresses, each of which lies in the memory before: walked alone it waits for memory at each step. Here
// several are walked side by side, from both ends, and wait together.
std::size_t timer_queue::fetch_slots(place_in_wheel at, std::uint64_t until) const noexcept {
  constexpr std::size_t side_by_side = 8;
  struct walk {
    const links* forward;
    const links* backward;
  };
  std::array<walk, side_by_side> walks;
  std::size_t count = 0;
  const level& l = (*wheel_)[at.level];
  for (std::size_t slot = at.slot; slot != slots && count != side_by_side && start_of({at.level, slot}) <= until;
       slot = next_occupied(l, slot + 1)) {
    walks[count++] = {l.slot[slot].next, l.slot[slot].previous};
  }
  const std::size_t fetched = count;
  while (count != 0) {
    for (std::size_t i = 0; i != count;) {
      walk& w = walks[i];
      if (w.forward == w.backward || w.forward->previous == w.backward) {  // they have met
        w = walks[--count];
        continue;
      }
      w.forward = w.forward->next;
      w.backward = w.backward->previous;
      asm volatile("" : : "r"(w.forward), "r"(w.backward));  // the compiler would leave out a walk that nothing comes of
      ++i;
    }
  }
  return fetched;
}

void timer_queue::take_due(links* members, links& head, std::size_t level_index) {
  const std::size_t from = due_.size();
  bool in_order = true;
  std::uint64_t before = 0;
  for (links* l = members; l != &head; l = l->next) {
    const std::uint64_t key = key_at(l);
    in_order = in_order && before <= key;
    before = key;
    due_.push_back({key, &timer_at(l)});
  }
  if (!in_order) order_due(from, level_index);
  for (std::size_t i = from; i < due_.size(); ++i) {
    timer& t = *due_[i].which;
    t.next = &t;
    t.due_index = i;
  }
}

// Stable. The keys from `from` on differ in their lowest `level_index` bytes only.
void timer_queue::order_due(std::size_t from, std::size_t level_index) {
  const auto begin = due_.begin() + static_cast<std::ptrdiff_t>(from);
  const std::size_t count = due_.size() - from;
  if (count <= 24) {
    for (auto i = begin + 1; i != due_.end(); ++i) {
      const due_timer moving = *i;
      auto hole = i;
      for (; hole != begin && moving.key < (hole - 1)->key; --hole) *hole = *(hole - 1);
      *hole = moving;
    }
    return;
  }
  sorting_.resize(count);
  for (std::size_t byte = 0; byte < level_index; ++byte) {
    std::array<std::uint32_t, slots> place{};
    const auto digit = [byte](const due_timer& d) { return (d.key >> (bits * byte)) & (slots - 1); };
    for (auto i = begin; i != due_.end(); ++i) ++place[digit(*i)];
    std::uint32_t sum = 0;
    for (std::uint32_t& p : place) sum += std::exchange(p, sum);
    for (auto i = begin; i != due_.end(); ++i) sorting_[place[digit(*i)]++] = *i;
    std::copy(sorting_.begin(), sorting_.end(), begin);
  }
}

timer* timer_queue::pop() noexcept {
  constexpr std::size_t ahead = 8;  // so that memory has been fetched by the time it is wanted
  while (popped_ < due_.size()) {
    if (popped_ + ahead < due_.size()) __builtin_prefetch(due_[popped_ + ahead].which, 1);
    timer* const t = due_[popped_++].which;
    if (t == nullptr) continue;
    t->next = nullptr;
    --size_;
    return t;
  }
  due_.clear();
  popped_ = 0;
  if (due_.capacity() > kept_due) due_ = {};
  if (sorting_.capacity() > kept_due) sorting_ = {};
  return nullptr;
}

timer* timer_queue::pop_any() noexcept {
  if (timer* const t = pop()) return t;
  if (occupied_levels_ == 0) return nullptr;
  const place_in_wheel at = first();
  timer& t = timer_at((*wheel_)[at.level].slot[at.slot].next);
  erase(t);
  return &t;
}

}  // namespace looptask
