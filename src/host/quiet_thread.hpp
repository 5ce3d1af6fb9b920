#pragma once
// A thread that takes no signal: those of the process go to the threads that want them. Nor does it keep the exact waits of the
// loop's thread, which would pass on to every child it starts.
#include <csignal>
#include <thread>
#include <utility>

namespace looptask {

// Gives the calling thread the timer slack of the kernel's default.
void wait_as_threads_usually_do();

// The new thread inherits the mask, so no signal can reach it before it could block them itself.
template <class Body>
std::thread quiet_thread(Body body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct restore {
    const sigset_t& mask;
    ~restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const back{before};
  return std::thread([body = std::move(body)]() mutable {
    wait_as_threads_usually_do();
    body();
  });
}

}  // namespace looptask
