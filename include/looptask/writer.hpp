#pragma once
// Writes to a stream without waiting for each piece, and with a bound on what may wait.
//
// Owner: the loop's thread; the stream stays open as long as the writer lives, and nobody else writes to it. write() keeps the
// bytes; they go out at the next drain() or flush(), or by themselves in the next turn, those of one turn in one call. Whoever
// writes awaits drain() now and then: it waits while more than `high` bytes are kept, until at most `low` are. Without it
// memory grows with what the peer does not read.
//
// drain(), flush() and close() are cancel points; a cancelled one leaves the bytes where they are, and they go out all the
// same. An error of the stream (std::system_error) comes out of the next write(), drain() or flush(), and of each after it;
// what was kept is dropped. A writer that is destroyed drops what it keeps: close() it before, or flush().
//
//   looptask::writer out(connection);
//   for (const auto& record : records) { out.write(record); co_await out.drain(); }
//   co_await out.close();
#include <cstddef>
#include <string_view>

#include <looptask/byte_queue.hpp>
#include <looptask/list.hpp>
#include <looptask/stream.hpp>
#include <looptask/task.hpp>

namespace looptask {

struct writer_marks {  // bytes
  std::size_t low = std::size_t{16} << 10U;
  std::size_t high = std::size_t{64} << 10U;
};

class writer final : private detail::duplex::waiter, private runnable {
 public:
  class drain_await;

  explicit writer(const stream& to, writer_marks marks = {}) noexcept;
  ~writer();
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  void write(std::string_view bytes);  // copies them
  drain_await drain() noexcept;        // co_await: see above; does not wait while at most `high` bytes are kept
  drain_await flush() noexcept;        // co_await: until nothing is kept
  task<> close();                      // flush(), then the other side reads the end: sockets only
  std::size_t buffered() const noexcept { return kept_.size(); }

 private:
  void run() override { push(); }
  void discard() noexcept override {}
  bool on_ready() noexcept override;
  void push() noexcept;
  void send_once() noexcept;
  void fail(int error) noexcept;
  void wake_drained() noexcept;
  void throw_error() const;

  detail::duplex& to_;
  const writer_marks marks_;
  byte_queue kept_;
  int error_ = 0;
  bool waits_ = false;  // for the stream to take more
  list<drain_await> drains_;
};

class writer::drain_await final : public operation, private list_node<> {
 public:
  drain_await(writer& of, std::size_t ready_at, std::size_t wait_for) noexcept
      : of_(of), ready_at_(ready_at), wait_for_(wait_for) {}
  ~drain_await() = default;
  bool await_ready() noexcept;
  void await_resume() {
    finish();
    of_.throw_error();
  }

 private:
  friend class writer;
  friend class list<drain_await>;
  void start() override;
  bool withdraw() noexcept override { return unlink(), true; }
  writer& of_;
  const std::size_t ready_at_;
  const std::size_t wait_for_;
};

inline writer::drain_await writer::drain() noexcept { return {*this, marks_.high, marks_.low}; }
inline writer::drain_await writer::flush() noexcept { return {*this, 0, 0}; }

}  // namespace looptask
