#pragma once
// Seeded pseudo-random numbers (splitmix64, Steele, Lea and Flood 2014): the same seed gives the same numbers for ever.
#include <cstdint>

#include <looptask/host.hpp>

namespace looptask::sim {

class seeded_random final : public random_port {
 public:
  explicit seeded_random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept override {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace looptask::sim
