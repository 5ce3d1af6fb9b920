#include <looptask/real_host.hpp>

#include <sys/prctl.h>

#include "host/descriptor_limit.hpp"
#include "host/epoll_reactor.hpp"
#include "host/process.hpp"
#include "host/system_clock.hpp"
#include "host/system_files.hpp"
#include "host/system_network.hpp"
#include "host/system_random.hpp"
#include "host/system_signals.hpp"
#include "host/system_workers.hpp"

namespace looptask {

struct real_host::ports {
  system_clock clock;
  epoll_reactor reactor{clock};
  system_signals signals{reactor};
  real_process_port processes{reactor, clock};
  system_random random;
  system_files files;
  system_workers workers{clock};
  system_network network;
  bool attached = false;
  unsigned long slack_before = 0;  // nanoseconds
};

real_host::real_host() : ports_(std::make_unique<ports>()) { ports_->clock.use(ports_->reactor); }
real_host::~real_host() { LOOPTASK_ASSERT(!ports_->attached, "host destroyed before its loop"); }

void real_host::raise_descriptor_limit() noexcept { looptask::raise_descriptor_limit(); }

void real_host::attach(inbox& home) {
  LOOPTASK_ASSERT(!ports_->attached, "host taken by a second loop");
  ports_->processes.attach(home);  // may fail: nothing is changed then. Children get the slack of now
  try {
    ports_->workers.attach(home);
  } catch (...) {
    ports_->processes.detach();
    throw;
  }
  ports_->slack_before = static_cast<unsigned long>(::prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL));
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  ports_->attached = true;
}

void real_host::detach() noexcept {
  ports_->workers.detach();
  ports_->processes.detach();
  ports_->signals.stop();
  ports_->clock.stop();
  ::prctl(PR_SET_TIMERSLACK, ports_->slack_before, 0UL, 0UL, 0UL);
  ports_->attached = false;
}

clock_port& real_host::clock() noexcept { return ports_->clock; }
reactor_port& real_host::reactor() noexcept { return ports_->reactor; }
signal_port& real_host::signals() noexcept { return ports_->signals; }
process_port& real_host::processes() noexcept { return ports_->processes; }
random_port& real_host::random() noexcept { return ports_->random; }
file_port& real_host::files() noexcept { return ports_->files; }
worker_port& real_host::workers() noexcept { return ports_->workers; }
network_port& real_host::network() noexcept { return ports_->network; }

}  // namespace looptask
