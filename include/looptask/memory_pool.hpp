#pragma once
// Blocks for what the loop makes and frees all the time: coroutine frames and closures. Each thread keeps free blocks by size
// for its next use, up to a bound; a block may be freed on another thread than it came from. Any thread.
//
// Under AddressSanitizer every block comes from the heap and goes back, so that a use after the end is seen.
#include <cstddef>
#include <cstdint>
#include <new>

namespace looptask::memory_pool {

inline constexpr std::size_t classes = 65;  // blocks above 1,032 bytes are not kept

// Blocks have 16 n + 8 bytes: with the 8 that the heap adds to each, that is what it gives for them anyway.
inline constexpr std::size_t class_of(std::size_t size) noexcept { return (size + 7) / 16; }
inline constexpr std::size_t bytes_of(std::size_t index) noexcept { return index * 16 + 8; }

struct free_block {
  free_block* next;
};

struct thread_state {
  free_block* free[classes];
  std::size_t room;    // bytes that may still be added to `free`; 0 until its end is provided for
  std::int64_t taken;  // blocks taken minus blocks given back on this thread
  bool registered;     // freed at the end of the thread
  bool closed;         // the thread is ending: nothing is kept any more
};

extern constinit thread_local thread_state here;

void* take_slow(std::size_t size);
void give_slow(void* block, std::size_t size) noexcept;

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool keeps = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool keeps = false;
#else
inline constexpr bool keeps = true;
#endif
#else
inline constexpr bool keeps = true;
#endif

inline constexpr std::size_t kept_at_most = std::size_t{8} << 20U;  // bytes for each thread

inline void* take(std::size_t size) {
  thread_state& mine = here;
  const std::size_t index = class_of(size);
  if (keeps && index < classes) {
    if (free_block* const block = mine.free[index]) {
      mine.free[index] = block->next;
      mine.room += bytes_of(index);
      ++mine.taken;
      return block;
    }
  }
  return take_slow(size);
}

inline void give(void* block, std::size_t size) noexcept {
  thread_state& mine = here;
  const std::size_t index = class_of(size);
  if (keeps && index < classes && mine.room >= bytes_of(index)) {
    mine.free[index] = ::new (block) free_block{mine.free[index]};
    mine.room -= bytes_of(index);
    --mine.taken;
    return;
  }
  give_slow(block, size);
}

// Blocks taken minus blocks given back on the calling thread: equal before and after a test that leaks nothing.
inline std::int64_t live() noexcept { return here.taken; }

}  // namespace looptask::memory_pool
