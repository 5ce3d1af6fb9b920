#pragma once
// The live log of a service on stderr: written by a thread of its own, so that a reader that stalls holds up neither the jobs
// nor the end. Owner: the main thread.
//
//   live_log log(io, service::log_form::json);
//   service::event_log events(log.sink(), service::log_form::json, zone);
//   ...
//   log.finish(loop);  // the log is out before the summary
#include <memory>

#include <looptask/loop.hpp>

#include "cli/console.hpp"
#include "service/event_log.hpp"
#include "service/log_sink.hpp"

namespace looptask::cli {

class live_log {
 public:
  // `io` outlives it.
  live_log(console& io, service::log_form form);

  service::log_sink& sink() noexcept { return *log_; }

  // Runs the loop, on which nothing else is left to do, until all lines have come out. A reader that has not taken them after a
  // second loses the rest, and io does not wait for it any more. Once, as the last call.
  void finish(loop& home);

 private:
  console& io_;
  std::unique_ptr<service::async_log> log_;
};

}  // namespace looptask::cli
