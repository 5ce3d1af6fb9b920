#pragma once
// The only door between threads and a loop: posted work and the request to stop. Shared by the loop and its handles, so that
// it outlives the loop; closed when the loop goes. Any thread may post and stop; all else is the loop's.
//
// Posted work lies in letters. The loop gives emptied letters back, all at once, and a thread that posts takes them, all at
// once, for its own stock: in a steady state nothing is allocated, and neither side waits for the other.
#include <atomic>
#include <cstddef>
#include <utility>

#include <looptask/function.hpp>
#include <looptask/host.hpp>

#include "loop/mail_queue.hpp"

namespace looptask {

class loop;

// Not aligned to a cache line: the heap is much slower for what is, and that costs more than two letters in one line do.
struct letter : mail_link {
  unique_function<void()> work;
  std::size_t chained = 0;  // in the first of a chain of emptied ones: how many there are
  letter* following() const noexcept { return static_cast<letter*>(next); }
};

class mailbox {
 public:
  mailbox(loop& of, reactor_port& reactor) noexcept : of_(of), queue_(reactor) {}
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;
  ~mailbox();

  bool post(unique_function<void()> work);  // false: closed, the work has been destroyed
  bool stop() noexcept { return queue_.request_stop(); }

  loop& of() const noexcept { return of_; }
  bool filled() const noexcept { return queue_.filled(); }
  bool stop_asked() const noexcept { return queue_.stop_asked(); }
  bool consume_stop() noexcept { return queue_.consume_stop(); }
  bool fall_asleep() noexcept { return queue_.fall_asleep(); }
  void wake_up() noexcept { queue_.wake_up(); }
  // In order of posting. Goes back by give_back(), without work, with its last one and how many they are.
  letter* take() noexcept { return static_cast<letter*>(queue_.take()); }
  void give_back(letter* first, letter* last, std::size_t count) noexcept;
  void close() noexcept;  // destroys the waiting work

 private:
  static constexpr std::size_t kept = 32768;  // emptied letters

  loop& of_;
  mail_queue<reactor_port> queue_;
  alignas(64) std::atomic<letter*> emptied_ = nullptr;  // a chain that the loop or a thread takes whole
};

}  // namespace looptask
