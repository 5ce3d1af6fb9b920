#pragma once
// Connecting to somebody.
//
// Owner: the loop's thread; in a task. A cancel point: cancelled, nothing is left of the attempt. Errors: std::system_error,
// "connect 127.0.0.1:1: Connection refused". TCP connections come with socket_option::nodelay set. There is no time limit but
// the kernel's (two minutes and more): with_timeout() sets one. A Unix socket whose listener has no room just now is tried
// again, after 1 ms at first and 64 ms at last.
//
//   looptask::stream s = co_await looptask::with_timeout(2s, looptask::connect(looptask::endpoint::loopback(8080)));
#include <looptask/network.hpp>
#include <looptask/stream.hpp>
#include <looptask/task.hpp>

namespace looptask {

task<stream> connect(endpoint to);

}  // namespace looptask
