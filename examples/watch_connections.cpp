// watch-connections COUNT BREAK INTERVAL-MS ROUNDS: keeps COUNT connections to peers (in this process) and looks at all of them
// by one callback every INTERVAL-MS. Only for those that are broken a task is started, which connects anew. After the first
// round BREAK of the peers are cut off. Prints, for each round, how many were broken; ends after ROUNDS.
//
//   watch-connections 200 3 10000 6
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <looptask/looptask.hpp>

namespace {

using looptask::stream;
using looptask::task;
using std::chrono::milliseconds;

// A connection and what is known of it. A task listens for the end of each; looking at it costs no call of the system.
struct watched {
  stream connection;
  bool broken = true;
  bool repairing = false;
};

class watch {
 public:
  watch(looptask::loop& loop, std::size_t count, std::size_t cuts, milliseconds interval, int rounds)
      : loop_(loop),
        door_(looptask::listen(loop, looptask::endpoint::loopback(0))),
        all_(count),
        cuts_(cuts),
        interval_(interval),
        left_(rounds) {}

  task<> run() {
    auto body = [this](looptask::task_group& group) -> task<> {
      group_ = &group;
      group.start(keep_peers());
      next_ = loop_.after(interval_);
      look();
      co_return;
    };
    co_await looptask::with_task_group(std::move(body));
  }

 private:
  // Every INTERVAL: all connections in one go.
  void look() {
    int broken = 0;
    for (watched& one : all_) {
      if (!one.broken || one.repairing) continue;
      ++broken;
      one.repairing = true;
      group_->start(repair(one));
    }
    std::printf("%d of %zu broken\n", broken, all_.size());
    std::fflush(stdout);
    if (--left_ == 0) return group_->cancel();
    if (!first_) {
      for (std::size_t i = 0; i < cuts_ && !peers_.empty(); ++i) peers_.pop_back();
      cuts_ = 0;
    }
    first_ = false;
    loop_.call_at(next_, [this] { look(); });
    next_ += interval_;
  }

  task<> repair(watched& one) {
    one.connection.close();
    try {
      one.connection = co_await looptask::connect(door_.local());
      one.broken = false;
      group_->start(listen_for_the_end(one));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());  // the next round tries again
    }
    one.repairing = false;
  }

  static task<> listen_for_the_end(watched& one) {
    char bytes[256];
    try {
      std::size_t size = 1;
      while (size != 0) size = co_await one.connection.read_some(bytes);
    } catch (const std::exception&) {  // a reset: as broken as an end
    }
    one.broken = true;
  }

  task<> keep_peers() {
    while (true) {
      stream peer = co_await door_.accept();
      peers_.push_back(std::move(peer));
    }
  }

  looptask::loop& loop_;
  looptask::listener door_;
  std::vector<watched> all_;
  std::vector<stream> peers_;
  std::size_t cuts_;
  milliseconds interval_;
  int left_;
  bool first_ = true;
  looptask::monotonic_time next_{};
  looptask::task_group* group_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  long given[4] = {200, 3, 10000, 6};
  for (int i = 1; i < argc && i <= 4; ++i) given[i - 1] = std::atol(argv[i]);
  if (argc > 5 || given[0] < 1 || given[1] < 0 || given[2] < 1 || given[3] < 1) {
    std::fprintf(stderr, "usage: watch-connections [COUNT [BREAK [INTERVAL-MS [ROUNDS]]]]\n");
    return 2;
  }
  looptask::real_host::raise_descriptor_limit();
  looptask::real_host host;
  looptask::loop loop(host);
  watch all(loop, static_cast<std::size_t>(given[0]), static_cast<std::size_t>(given[1]), milliseconds(given[2]),
            static_cast<int>(given[3]));
  loop.run(all.run());
}
