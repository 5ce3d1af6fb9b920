#pragma once
// Waits for connections: TCP or Unix sockets.
//
// Owner: the loop's thread; destroyed before its loop, and not while a task waits for it (asserted). accept() is a cancel point
// that tries first; a connection that came before the cancellation is delivered. Errors: std::system_error, "listen on
// 127.0.0.1:80: Address already in use". A connection that broke before it was accepted is passed over and counted. When the
// process or the machine has no descriptor free (or no memory for a socket), accept() waits, looks again after 10 ms, 20 ms ...
// up to 1 s, and goes on when there is one: meanwhile the kernel keeps clients in the backlog. statistics().starved counts it.
//
// A Unix socket of a file: a file whose listener is gone (nobody answers there) is removed first; one that is not a socket, or
// where somebody listens, is EADDRINUSE. The file is removed again when the listener is closed, if it is still ours. Two that
// start on one stale file at the same instant may take it from each other: hold a lock around listen() if that can be.
//
//   looptask::listener door = looptask::listen(loop, looptask::endpoint::loopback(0));
//   announce(door.local().port());
//   while (true) {
//     looptask::stream guest = co_await door.accept();
//     group.start(serve(std::move(guest)));
//   }
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <looptask/network.hpp>
#include <looptask/stream.hpp>
#include <looptask/time.hpp>
#include <looptask/timer.hpp>

namespace looptask {

struct listen_options {
  int backlog = 4096;         // connections that may wait for accept(); the kernel's somaxconn is the limit
  bool reuse_address = true;  // also while old connections of that port linger; no two listeners share it for that
  bool reuse_port = false;    // share it: the kernel spreads connections over all who listen so
  bool ip6_only = false;      // of [::]: IPv4 as well, unless set
};

struct listener_statistics {
  std::uint64_t accepted = 0;
  std::uint64_t broken = 0;   // before they were accepted
  std::uint64_t starved = 0;  // times that descriptors or memory were lacking
};

class listener;
// Listens at once: clients may connect from here on.
listener listen(loop& where, const endpoint& at, listen_options options = {});

namespace detail {

// What stays where it is when a listener moves.
struct listening {
  listening(loop& where, network_descriptor fd, endpoint at) noexcept : door(where, std::move(fd), std::move(at)) {}
  ~listening();  // removes the file of a Unix socket, if it is still ours
  listening(const listening&) = delete;
  listening& operator=(const listening&) = delete;

  duplex door;
  std::optional<file_identity> file;
  listener_statistics counts;
};

class accept_await final : public operation, private duplex::waiter, private timer {
 public:
  explicit accept_await(listening& of) noexcept : of_(of) {}
  ~accept_await() {
    if (is_waiting()) of_.door.forget(*this);
  }
  bool await_ready() noexcept { return strikes_now() || (spend() && attempt()); }
  stream await_resume();

 private:
  static constexpr duration first_pause = std::chrono::milliseconds(10);
  static constexpr duration longest_pause = std::chrono::seconds(1);

  void start() override;
  bool withdraw() noexcept override;
  bool on_ready() noexcept override;
  void on_timer() override;
  bool attempt() noexcept;
  void wait() noexcept;
  void rest() noexcept;

  listening& of_;
  network_descriptor accepted_;
  endpoint peer_;
  int error_ = 0;
  bool starved_ = false;
  duration pause_ = first_pause;
};

}  // namespace detail

class listener {
 public:
  listener(listener&&) noexcept = default;
  listener& operator=(listener&& other) noexcept {
    listening_ = std::move(other.listening_);
    return *this;
  }

  // co_await: a stream. One task at a time. TCP connections come with socket_option::nodelay set.
  detail::accept_await accept() noexcept { return detail::accept_await(open()); }
  const endpoint& local() const noexcept { return open().door.peer(); }  // with the port that the system chose
  void close() noexcept { listening_.reset(); }                          // idempotent; those in the backlog are refused
  bool is_open() const noexcept { return listening_ != nullptr; }
  listener_statistics statistics() const noexcept { return open().counts; }

 private:
  friend listener listen(loop& where, const endpoint& at, listen_options options);
  explicit listener(std::unique_ptr<detail::listening> made) noexcept : listening_(std::move(made)) {}
  detail::listening& open() const noexcept {
    LOOPTASK_ASSERT(listening_ != nullptr, "use of a listener that is closed");
    return *listening_;
  }
  std::unique_ptr<detail::listening> listening_;
};

}  // namespace looptask
