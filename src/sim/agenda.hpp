#pragma once
// What is going to happen in a simulated world, by virtual time. Entries of one instant happen in the order of their rank,
// those of equal rank in the order they were added. Removing is exact: nothing stays behind.
//
// Owner: the thread of the world. Nothing here fails but memory.
//
//   agenda plan;
//   auto entry = plan.add(5s, rank::ordinary, [] { ... });
//   plan.remove(entry);
//   plan.run_due(5s);
#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include <looptask/function.hpp>
#include <looptask/time.hpp>

namespace looptask::sim {

enum class rank : std::uint8_t { wall_step, ordinary };

class agenda {
 public:
  struct entry {
    duration at{};
    sim::rank rank = rank::ordinary;
    std::uint64_t number = 0;
    auto operator<=>(const entry&) const = default;
  };

  entry add(duration at, rank order, unique_function<void()> action);
  void remove(const entry& which) noexcept;  // idempotent
  std::optional<duration> next() const noexcept;
  // Runs what is due at `now` and was there when the call began, each entry removed before it runs. Returns how many ran.
  // An exception of an action leaves at once; the rest stays.
  std::uint64_t run_due(duration now);

 private:
  std::map<entry, unique_function<void()>> entries_;
  std::uint64_t next_number_ = 0;
};

}  // namespace looptask::sim
