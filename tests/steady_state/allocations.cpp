#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

constinit std::atomic<std::uint64_t> calls = 0;

void* counted(std::size_t size) {
  calls.fetch_add(1, std::memory_order_relaxed);
  void* const block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void* counted(std::size_t size, std::align_val_t alignment) {
  calls.fetch_add(1, std::memory_order_relaxed);
  const auto step = static_cast<std::size_t>(alignment);
  void* const block = std::aligned_alloc(step, (size + step - 1) / step * step);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

// Each form for itself: a sanitizer has forms of its own that call none of these.
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return counted(size, alignment); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { std::free(block); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, alignment); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }

namespace looptask {

std::uint64_t allocations() noexcept { return calls.load(std::memory_order_relaxed); }

}  // namespace looptask
