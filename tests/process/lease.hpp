#pragma once
// A program that cannot be started for now: a write lease on its file makes every exec of it wait, as a dead network file
// system does.
#include <fcntl.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include "host/descriptor.hpp"
#include "process/scratch.hpp"

namespace looptask {

class leased_program {
 public:
  leased_program() {
    folder_.write_program("hangs", "#!/bin/sh\nexit 0\n");
    ::sigaction(SIGIO, nullptr, &before_);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;  // how the kernel tells that somebody waits
    ::sigaction(SIGIO, &ignore, nullptr);
    file_ = descriptor(::open(path().c_str(), O_RDWR | O_CLOEXEC));
    if (!file_ || ::fcntl(file_.get(), F_SETLEASE, F_WRLCK) != 0) throw std::runtime_error("no lease on " + path());
  }
  ~leased_program() {
    release();
    ::sigaction(SIGIO, &before_, nullptr);
  }
  leased_program(const leased_program&) = delete;
  leased_program& operator=(const leased_program&) = delete;

  std::string path() const { return folder_.path("hangs"); }
  void release() { file_.reset(); }

 private:
  scratch folder_;
  descriptor file_;
  struct sigaction before_ {};
};

}  // namespace looptask
