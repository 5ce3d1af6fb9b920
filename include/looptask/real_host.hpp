#pragma once
// The host that is Linux. One for each loop, used on the loop's thread; it must outlive the loop.
//
// No thread is started before the first child process or the first blocking call needs one.
//
// The loop's thread gets a timer slack of 1 ns while a loop is attached, so that waits end on time; threads and processes that
// this thread starts inherit it unless they set their own. Signal masks are left alone: watched signals are caught by handlers,
// which exec resets, so that children inherit neither.
//
//   looptask::real_host host;
//   looptask::loop loop(host);
//   host.signals().watch(SIGTERM, [&loop](int) { loop.stop(); });
//   loop.run();
#include <memory>

#include <looptask/host.hpp>

namespace looptask {

class real_host final : public host {
 public:
  real_host();  // std::system_error if the kernel refuses epoll or eventfd
  ~real_host() override;
  real_host(const real_host&) = delete;
  real_host& operator=(const real_host&) = delete;

  // Each running child takes two descriptors, and the usual soft limit is 1024. This raises the soft limit of the whole process
  // to its hard limit, to 65,536 at most, and it stays so; children of every real_host are started with the soft limit from
  // before. Nothing else in the library changes a limit. Any thread; a system that refuses leaves it as it is.
  static void raise_descriptor_limit() noexcept;

  void attach(inbox& home) override;
  void detach() noexcept override;
  clock_port& clock() noexcept override;
  reactor_port& reactor() noexcept override;
  signal_port& signals() noexcept override;
  process_port& processes() noexcept override;
  random_port& random() noexcept override;
  file_port& files() noexcept override;
  worker_port& workers() noexcept override;
  network_port& network() noexcept override;

 private:
  struct ports;
  std::unique_ptr<ports> ports_;
};

}  // namespace looptask
