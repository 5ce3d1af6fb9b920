#include <looptask/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace looptask {

void assertion_failed(const char* file, int line, const char* condition, const char* message) noexcept {
  std::fprintf(stderr, "looptask: %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace looptask
