#pragma once
// Signals of this process, delivered on a loop's thread: the handler sets a bit and writes to an eventfd, the reactor does the
// rest. No signal mask is touched, so it does not matter which threads exist, and children inherit nothing: exec resets caught
// signals to their default.
//
// Owner: the loop's thread. Signals of one number that come before the loop looks are one call, as signals always are.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <optional>
#include <utility>

#include <looptask/host.hpp>

#include "host/descriptor.hpp"

namespace looptask {

class system_signals final : public signal_port, private readiness_handler {
 public:
  explicit system_signals(reactor_port& reactor) noexcept : reactor_(reactor) {}
  ~system_signals() { stop(); }

  void watch(int signal, unique_function<void(int)> handler) override;
  void unwatch(int signal) noexcept override;
  void stop() noexcept;  // unwatches all

  static constexpr int highest = 64;

 private:
  struct watched {
    explicit watched(unique_function<void(int)> h) noexcept : handler(std::move(h)) {}
    unique_function<void(int)> handler;
    struct sigaction before;  // what sigaction() gave back
  };

  static void caught(int signal) noexcept;  // in signal context
  void ring() noexcept;                     // also in signal context
  void on_ready(readiness) override;
  void call(int signal);

  reactor_port& reactor_;
  descriptor bell_;                      // while anything is watched
  std::atomic<std::uint64_t> came_ = 0;  // bit n - 1: signal n
  std::array<std::optional<watched>, highest + 1> watched_;
  int count_ = 0;
};

}  // namespace looptask
