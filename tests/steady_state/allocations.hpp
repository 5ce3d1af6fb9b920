#pragma once
// Counts what this program takes from the heap, on all threads: allocations.cpp replaces the global operator new.
#include <cstdint>

namespace looptask {

std::uint64_t allocations() noexcept;  // calls of any operator new since the start of the program

// What is measured: the rounds after the first ones, in which free lists and vectors grow to the size they then keep.
class steady_state {
 public:
  static constexpr int warm_up = 1'000;
  static constexpr int rounds = warm_up + 10'000;

  void round() noexcept {  // at the beginning of each
    if (done_++ == warm_up) before_ = allocations();
  }
  bool over() const noexcept { return done_ >= rounds; }
  // After the last one.
  std::uint64_t allocated() const noexcept { return over() ? allocations() - before_ : ~std::uint64_t{0}; }

 private:
  int done_ = 0;
  std::uint64_t before_ = 0;
};

}  // namespace looptask
