#include "sim/agenda.hpp"

#include <utility>

namespace looptask::sim {

agenda::entry agenda::add(duration at, rank order, unique_function<void()> action) {
  const entry made{at, order, next_number_++};
  entries_.emplace(made, std::move(action));
  return made;
}

void agenda::remove(const entry& which) noexcept { entries_.erase(which); }

std::optional<duration> agenda::next() const noexcept {
  if (entries_.empty()) return std::nullopt;
  return entries_.begin()->first.at;
}

std::uint64_t agenda::run_due(duration now) {
  const std::uint64_t end = next_number_;
  std::uint64_t ran = 0;
  auto it = entries_.begin();
  while (it != entries_.end() && it->first.at <= now) {
    const entry current = it->first;
    if (current.number < end) {
      unique_function<void()> action = std::move(it->second);
      entries_.erase(it);
      ++ran;
      action();
    }
    it = entries_.upper_bound(current);  // the action may have added and removed entries
  }
  return ran;
}

}  // namespace looptask::sim
