#pragma once
// Random numbers that differ for each host, each process and each machine: xoshiro256** seeded by getrandom. Not for secrets.
//
// Owner: the loop's thread.
#include <array>
#include <cstdint>

#include <looptask/host.hpp>

namespace looptask {

class system_random final : public random_port {
 public:
  system_random();  // std::system_error if the kernel gives none
  ~system_random() = default;
  std::uint64_t next() noexcept override;

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace looptask
