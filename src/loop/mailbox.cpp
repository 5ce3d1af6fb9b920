#include "loop/mailbox.hpp"

#include <cstdint>
#include <memory>

namespace looptask {
namespace {

// The letters that a thread has in stock for its next posts, to whatever loop.
struct stock_of_letters {
  letter* first;
  bool registered;  // freed at the end of the thread
  bool closed;      // the thread is ending: nothing is kept any more
};
constinit thread_local stock_of_letters stock{};

void free_all(letter* first) noexcept {
  while (const std::unique_ptr<letter> one{first}) first = one->following();
}

struct at_thread_end {
  ~at_thread_end() {
    stock.closed = true;
    free_all(std::exchange(stock.first, nullptr));
  }
  void touch() noexcept {}
};
thread_local at_thread_end cleaner;

letter* new_letter(std::atomic<letter*>& emptied) {
  if (!stock.closed && emptied.load(std::memory_order_relaxed) != nullptr) {
    if (!std::exchange(stock.registered, true)) cleaner.touch();
    if (letter* const chain = emptied.exchange(nullptr, std::memory_order_acquire)) {
      stock.first = chain->following();
      return chain;
    }
  }
  return new letter;
}

}  // namespace

mailbox::~mailbox() { free_all(emptied_.load(std::memory_order_relaxed)); }

bool mailbox::post(unique_function<void()> work) {
  letter* of = stock.first;
  if (of != nullptr) {
    stock.first = of->following();
  } else {
    of = new_letter(emptied_);
  }
  of->work = std::move(work);
  if (queue_.push(*of)) return true;
  const std::unique_ptr<letter> refused(of);  // its work is destroyed with it, here, and may post
  return false;
}

// What nobody has taken since the last time is kept as well, up to the bound. Only the loop adds.
void mailbox::give_back(letter* first, letter* last, std::size_t count) noexcept {
  letter* const before = emptied_.exchange(nullptr, std::memory_order_acquire);
  if (before != nullptr && before->chained + count <= kept) {
    last->next = before;
    count += before->chained;
  } else {
    free_all(before);
  }
  if (count > kept) {
    letter* at = first;
    for (count = 1; count < kept; ++count) at = at->following();
    free_all(static_cast<letter*>(std::exchange(at->next, nullptr)));
  }
  first->chained = count;
  emptied_.store(first, std::memory_order_release);
}

// Work that posts while it is destroyed is refused.
void mailbox::close() noexcept { free_all(static_cast<letter*>(queue_.close())); }

}  // namespace looptask
