#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
constinit thread_local std::int64_t taken = 0;
}  // namespace

namespace looptask::bench {
std::int64_t allocations() noexcept { return taken; }
}  // namespace looptask::bench

void* operator new(std::size_t size) {
  ++taken;
  if (void* const block = std::malloc(size != 0 ? size : 1)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
