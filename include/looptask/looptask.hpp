#pragma once
// The runtime in one include: loop, host, tasks, scopes, groups, synchronisation, time, connections, processes.
//
//   #include <looptask/looptask.hpp>
//   looptask::task<> hello() { co_await looptask::sleep_for(std::chrono::seconds(1)); std::puts("hello"); }
//   int main() { looptask::real_host host; looptask::loop loop(host); loop.run(hello()); }
#include <looptask/blocking.hpp>
#include <looptask/byte_queue.hpp>
#include <looptask/callback.hpp>
#include <looptask/channel.hpp>
#include <looptask/cleanup.hpp>
#include <looptask/condition.hpp>
#include <looptask/connect.hpp>
#include <looptask/debug.hpp>
#include <looptask/event.hpp>
#include <looptask/file.hpp>
#include <looptask/future.hpp>
#include <looptask/generator.hpp>
#include <looptask/host.hpp>
#include <looptask/latch.hpp>
#include <looptask/listener.hpp>
#include <looptask/loop.hpp>
#include <looptask/mutex.hpp>
#include <looptask/network.hpp>
#include <looptask/process.hpp>
#include <looptask/rate_limiter.hpp>
#include <looptask/reader.hpp>
#include <looptask/real_host.hpp>
#include <looptask/run_on.hpp>
#include <looptask/scope.hpp>
#include <looptask/semaphore.hpp>
#include <looptask/sleep.hpp>
#include <looptask/stream.hpp>
#include <looptask/task.hpp>
#include <looptask/task_group.hpp>
#include <looptask/task_handle.hpp>
#include <looptask/task_local.hpp>
#include <looptask/time.hpp>
#include <looptask/timer.hpp>
#include <looptask/when_all.hpp>
#include <looptask/when_any.hpp>
#include <looptask/worker_port.hpp>
#include <looptask/writer.hpp>
