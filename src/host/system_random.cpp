#include "host/system_random.hpp"

#include <sys/random.h>

#include <bit>

#include "host/system_call.hpp"

namespace looptask {

system_random::system_random() {
  // Up to 256 bytes come whole, once the kernel's pool is ready; only the wait for that can be interrupted.
  ssize_t got = -1;
  do got = ::getrandom(state_.data(), sizeof state_, 0);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof state_)) throw_errno("getrandom");
  state_[0] |= 1U;  // the all-zero state would stay zero
}

std::uint64_t system_random::next() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

}  // namespace looptask
