#include <looptask/memory_pool.hpp>

namespace looptask::memory_pool {

constinit thread_local thread_state here{};

namespace {

// Gives the thread's free blocks back at its end. Blocks freed still later, by other thread-local objects, go to the heap.
struct at_thread_end {
  ~at_thread_end() {
    here.registered = false;
    here.closed = true;
    here.room = 0;
    for (free_block*& head : here.free) {
      while (free_block* const block = head) {
        head = block->next;
        ::operator delete(block);
      }
    }
  }
  void touch() noexcept {}
};

thread_local at_thread_end cleaner;

}  // namespace

void* take_slow(std::size_t size) {
  if (!here.registered && !here.closed) {
    cleaner.touch();
    here.registered = true;
    here.room = kept_at_most;
  }
  const std::size_t index = class_of(size);
  void* const block = ::operator new(index < classes ? bytes_of(index) : size);
  ++here.taken;
  return block;
}

void give_slow(void* block, std::size_t /*size*/) noexcept {
  --here.taken;
  ::operator delete(block);
}

}  // namespace looptask::memory_pool
