#pragma once
// A connection: bytes in order, in both directions, over TCP or a Unix socket; or one end of a pipe.
//
// Owner: the loop's thread; a stream is destroyed or closed before its loop, and not while a task waits for it (asserted). One
// task may read and another write at the same time, no more. Every await is a cancel point that tries its call first and waits
// only if it must; a cancelled one has moved nothing, except for write_all, which counts. Errors: std::system_error with what
// and whom, as "write to 127.0.0.1:80: Broken pipe". What is read into and written from stays valid until the await ends.
//
// A stream that has waited once counts as watched until it is closed: loop::run() without a task goes on for it. Reading and
// writing allocate nothing, and as long as one reads as much as comes, the system is asked for nothing but the bytes.
//
//   looptask::stream s = co_await looptask::connect(looptask::endpoint::loopback(8080));
//   co_await s.write_all("ping\n");
//   char answer[64];
//   const std::size_t size = co_await s.read_some(answer);   // 0: the other side will send no more
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <looptask/host.hpp>
#include <looptask/loop.hpp>
#include <looptask/memory_pool.hpp>
#include <looptask/network.hpp>
#include <looptask/operation.hpp>

namespace looptask {

namespace detail {

// A descriptor and its watch, which stays armed from one wait to the next and is disarmed when an event finds nobody waiting.
class duplex final : private readiness_handler {
 public:
  // Whoever waits to read, or to write.
  class waiter {
   public:
    // It may be ready: try the call. True: it need not wait any more. On the loop's thread, from the poll; must not run tasks.
    virtual bool on_ready() noexcept = 0;

   protected:
    ~waiter() = default;
  };

  duplex(loop& where, network_descriptor owned, endpoint peer) noexcept;
  ~duplex();
  duplex(const duplex&) = delete;
  duplex& operator=(const duplex&) = delete;
  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }

  loop& where() const noexcept { return loop_; }
  network_port& port() const noexcept { return fd_.port(); }
  int fd() const noexcept { return fd_.get(); }
  const endpoint& peer() const noexcept { return peer_; }

  // One call of the system each; -EAGAIN: wait(). Whether it is worth a call is known before: after a read that came back with
  // less than there was room for, nothing is left until the reactor says so.
  bool may_read() const noexcept { return may_read_; }
  bool may_write() const noexcept { return may_write_; }
  std::ptrdiff_t read(std::span<char> to) noexcept;
  std::ptrdiff_t write(std::string_view bytes) noexcept;
  void writes_to_a_pipe() noexcept { pipe_ = true; }

  // readiness::read or ::write; each has one waiter at most. The errno of a watch that was refused, or 0.
  int wait(readiness what, waiter& who) noexcept;
  void forget(const waiter& who) noexcept;  // nothing if it does not wait
  // Whoever waits hears of nothing until it has waited anew.
  void disarm(readiness what) noexcept;
  bool is_waited_for() const noexcept { return reader_ != nullptr || writer_ != nullptr; }
  [[noreturn]] void fail(int error, std::string_view what) const;  // std::system_error: "`what` PEER"

 private:
  void on_ready(readiness ready) override;

  loop& loop_;
  network_descriptor fd_;
  endpoint peer_;
  waiter* reader_ = nullptr;
  waiter* writer_ = nullptr;
  readiness wanted_ = readiness::none;
  bool watched_ = false;
  bool may_read_ = true;
  bool may_write_ = true;
  bool pipe_ = false;
};

// A cancel point of what need not wait, and its share of the turn's budget.
class checkpoint final : public operation {
 public:
  checkpoint() noexcept = default;
  ~checkpoint() = default;
  bool await_ready() noexcept { return strikes_now() || spend(); }
  void await_resume() { finish(); }

 private:
  void start() override { complete(); }
  bool withdraw() noexcept override { return false; }
};

// Waits for one side of it.
class duplex_await : public operation, protected duplex::waiter {
 public:
  bool await_ready() noexcept;

 protected:
  duplex_await(duplex& of, readiness what) noexcept : of_(of), what_(what) {}
  ~duplex_await() {
    if (is_waiting()) of_.forget(*this);
  }
  // The call itself. True: it is over, by its result or by error_. False: wait.
  virtual bool attempt() noexcept = 0;
  void finish_or_fail(std::string_view what) {
    finish();
    if (error_ != 0) of_.fail(error_, what);
  }

  duplex& of_;
  int error_ = 0;

 private:
  void start() override;
  bool withdraw() noexcept override;
  bool on_ready() noexcept override;
  const readiness what_;
};

class read_await final : public duplex_await {
 public:
  read_await(duplex& of, std::span<char> to) noexcept : duplex_await(of, readiness::read), to_(to) {}
  ~read_await() = default;
  std::size_t await_resume() {
    finish_or_fail("read from");
    return count_;
  }

 private:
  bool attempt() noexcept override;
  std::span<char> to_;
  std::size_t count_ = 0;
};

class write_await : public duplex_await {
 public:
  write_await(duplex& of, std::string_view bytes) noexcept : duplex_await(of, readiness::write), rest_(bytes) {}
  ~write_await() = default;
  bool await_ready() noexcept {
    if (!rest_.empty()) return duplex_await::await_ready();
    static_cast<void>(strikes_now());  // nothing to write waits for nothing
    return true;
  }
  std::size_t await_resume() {
    finish_or_fail("write to");
    return count_;
  }

 protected:
  bool attempt() noexcept override;
  std::string_view rest_;
  std::size_t count_ = 0;
};

class write_all_await final : public write_await {
 public:
  write_all_await(duplex& of, std::string_view bytes, std::size_t* written) noexcept
      : write_await(of, bytes), written_(written != nullptr ? written : &count_) {
    *written_ = 0;
  }
  ~write_all_await() = default;
  void await_resume() { finish_or_fail("write to"); }

 private:
  bool attempt() noexcept override;
  std::size_t* written_;
};

}  // namespace detail

class stream {
 public:
  stream() noexcept = default;  // closed
  // Takes over a connected descriptor that does not block.
  stream(loop& where, network_descriptor connected, endpoint peer);
  stream(stream&&) noexcept = default;
  stream& operator=(stream&& other) noexcept {  // closes what it was before
    duplex_ = std::move(other.duplex_);
    return *this;
  }

  // co_await: the number of bytes read, at least one; 0 at the end. An empty `to` is misuse.
  detail::read_await read_some(std::span<char> to) noexcept;
  // co_await: the number of bytes written, at least one unless `bytes` is empty.
  detail::write_await write_some(std::string_view bytes) noexcept { return {open_duplex(), bytes}; }
  // co_await: nothing; all is written, which says nothing about what the other side has read. Cancellation and errors may come
  // in the middle: `*written` always is how much went out. What is left is the caller's to send, or the stream's end.
  detail::write_all_await write_all(std::string_view bytes, std::size_t* written = nullptr) noexcept {
    return {open_duplex(), bytes, written};
  }

  // The other side reads the end; reading from it goes on. Of a pipe: EINVAL, it has one direction only; close it.
  void shutdown_write();
  void close() noexcept { duplex_.reset(); }  // idempotent
  // Ends it so that the other side sees a reset. TCP only; as close() for others.
  void abort() noexcept;
  void set(socket_option which, int value);

  bool is_open() const noexcept { return duplex_ != nullptr; }
  const endpoint& peer() const noexcept { return open_duplex().peer(); }
  endpoint local() const;
  loop& where() const noexcept { return open_duplex().where(); }
  detail::duplex& open_duplex() const noexcept {  // for what stands on streams; it stays where it is when the stream moves
    LOOPTASK_ASSERT(duplex_ != nullptr, "use of a stream that is closed");
    return *duplex_;
  }

 private:
  std::unique_ptr<detail::duplex> duplex_;
};

struct stream_pair {
  stream first;
  stream second;
};
// Two that are connected to each other, inside this process.
stream_pair make_stream_pair(loop& where);

struct pipe_ends {
  stream reads;
  stream writes;
};
pipe_ends make_pipe(loop& where);

}  // namespace looptask
