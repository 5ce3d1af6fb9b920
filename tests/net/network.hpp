#pragma once
// A loop on the real host for tests of streams: every test ends with as many frames and open descriptors as it began with.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <looptask/connect.hpp>
#include <looptask/listener.hpp>
#include <looptask/looptask.hpp>
#include <looptask/stream.hpp>

// ASSERT_* returns, which a coroutine cannot; a requirement that fails ends the task instead.
#define LT_REQUIRE(condition)                         \
  do {                                                \
    if (!(condition)) {                               \
      ADD_FAILURE() << "requirement: " << #condition; \
      throw std::runtime_error(#condition);           \
    }                                                 \
  } while (false)

namespace looptask {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// The words of the std::system_error that `call` throws; "" if it throws none.
template <class F>
std::string complaint(F call) {
  try {
    call();
  } catch (const std::system_error& error) {
    return error.what();
  }
  return "";
}

struct on_the_network : testing::Test {
  std::int64_t frames_before = memory_pool::live();
  std::ptrdiff_t open_before = open_descriptors();
  std::unique_ptr<real_host> host = std::make_unique<real_host>();
  std::unique_ptr<looptask::loop> owned = std::make_unique<looptask::loop>(*host);
  looptask::loop& loop = *owned;

  // A task that is cancelled if it hangs.
  template <class T>
  T run(task<T> work) {
    return loop.run(with_timeout(seconds(20), std::move(work)));
  }
  template <class F>
  auto run(F closure) {
    return run(detail::keeping(std::move(closure)));
  }
  // Turns in which what is ready runs and what has come is met.
  void take_turns(int count = 4) {
    for (int i = 0; i < count; ++i) {
      loop.call_soon([] {});
      loop.run_once();
    }
  }
  void TearDown() override {
    owned.reset();
    host.reset();
    EXPECT_EQ(memory_pool::live(), frames_before) << "frames left over";
    EXPECT_EQ(open_descriptors(), open_before) << "descriptors left over";
  }
};

struct both_ends {
  stream client;
  stream server;
};

// Over TCP.
inline task<both_ends> connected(looptask::loop& loop) {
  listener door = listen(loop, endpoint::loopback(0));
  stream client = co_await connect(door.local());
  stream server = co_await door.accept();
  co_return both_ends{std::move(client), std::move(server)};
}

inline task<std::string> read_all(stream& from) {
  std::string all;
  char part[4096];
  while (true) {
    const std::size_t size = co_await from.read_some(part);
    if (size == 0) co_return all;
    all.append(part, size);
  }
}

}  // namespace looptask
