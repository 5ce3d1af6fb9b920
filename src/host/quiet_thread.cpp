#include "host/quiet_thread.hpp"

#include <sys/prctl.h>

namespace looptask {

void wait_as_threads_usually_do() {
  constexpr unsigned long kernel_default = 50'000;  // nanoseconds of timer slack
  ::prctl(PR_SET_TIMERSLACK, kernel_default, 0UL, 0UL, 0UL);
}

}  // namespace looptask
