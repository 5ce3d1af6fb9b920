#include <looptask/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace looptask {
namespace {
void (*note)() noexcept = nullptr;
}

void detail::assertion_note(void (*more)() noexcept) noexcept { __atomic_store_n(&note, more, __ATOMIC_RELEASE); }

void assertion_failed(const char* file, int line, const char* condition, const char* message) noexcept {
  std::fprintf(stderr, "looptask: %s:%d: %s (%s)\n", file, line, message, condition);
  if (auto* const more = __atomic_load_n(&note, __ATOMIC_ACQUIRE)) more();
  std::abort();
}

}  // namespace looptask
