// How many times a second /bin/true can be started, its output read and its status reaped: loop and process port against a bare
// loop over the same system calls (vfork on a thread of its own, epoll, pidfd, pipe), which is what is physically there to win.
// `tree`: each with a shim that guards it, and so two programs started instead of one.
// usage: bench_spawn [PROCESSES] [AT ONCE] [ROUNDS]
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include "measure.hpp"

namespace looptask::bench {
namespace {

// --- bare

struct bare_child {
  pid_t pid = -1;
  int pidfd = -1;
  int output = -1;
};

pid_t vfork_true(int output) {
  static char name[] = "/bin/true";
  static char* arguments[] = {name, nullptr};
  static char* environment[] = {nullptr};
  const pid_t pid = vfork();
  if (pid == 0) {
    dup2(output, 1);
    dup2(output, 2);
    execve(name, arguments, environment);
    _exit(127);
  }
  return pid;
}

class bare_loop {
 public:
  bare_loop(std::int64_t total, std::size_t at_once) : total_(total), children_(at_once), launcher_([this] { launch_all(); }) {}
  bare_loop(const bare_loop&) = delete;
  bare_loop& operator=(const bare_loop&) = delete;
  ~bare_loop() {
    ask(no_child);
    launcher_.join();
    close(poll_);
  }

  std::int64_t run() {
    std::int64_t begun = 0, ended = 0, good = 0;
    for (std::size_t i = 0; i < children_.size() && begun < total_; ++i, ++begun) ask(i);
    epoll_event ready[64];
    while (ended < total_) {
      const int count = epoll_wait(poll_, ready, 64, -1);
      for (int i = 0; i < count; ++i) {
        const std::size_t which = ready[i].data.u64;
        good += reap(children_[which]) ? 1 : 0;
        ++ended;
        if (begun < total_) {
          ++begun;
          ask(which);
        }
      }
    }
    return good;
  }

 private:
  static constexpr std::size_t no_child = ~std::size_t{0};

  void ask(std::size_t which) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(which);
    }
    changed_.notify_one();
  }

  void launch_all() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !asked_.empty(); });
      const std::size_t which = asked_.front();
      asked_.pop_front();
      lock.unlock();
      if (which == no_child) return;
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
      bare_child& child = children_[which];
      child.pid = vfork_true(ends[1]);
      close(ends[1]);
      child.output = ends[0];
      child.pidfd = static_cast<int>(syscall(SYS_pidfd_open, child.pid, 0));
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = which;
      if (child.pidfd < 0 || epoll_ctl(poll_, EPOLL_CTL_ADD, child.pidfd, &event) != 0) std::abort();
    }
  }

  bool reap(const bare_child& child) {
    char buffer[4096];
    while (read(child.output, buffer, sizeof buffer) > 0) {
    }
    int status = -1;
    waitpid(child.pid, &status, 0);
    close(child.output);
    // A child between vfork and exec may hold a copy of the pidfd, so close() alone would leave it registered.
    epoll_ctl(poll_, EPOLL_CTL_DEL, child.pidfd, nullptr);
    close(child.pidfd);
    return status == 0;
  }

  const std::int64_t total_;
  const int poll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<bare_child> children_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::size_t> asked_;
  std::thread launcher_;
};

// --- ours

class spawner;

class one_child final : public process_events {
 public:
  explicit one_child(spawner& owner) : owner_(owner) {}
  void begin();
  void on_spawned(const process_identity&) override {}
  void on_spawn_failed(int, std::string_view) override { std::abort(); }
  void on_output(std::string_view) override {}
  void on_output_end() override;
  void on_exit(const process_exit& how) override;

 private:
  void after(bool& which);
  spawner& owner_;
  std::unique_ptr<child_process> child_;
  bool exited_ = false, closed_ = false, good_ = false;
};

class spawner {
 public:
  spawner(loop& where, std::int64_t total, containment_tier tier) : loop_(where), total_(total), tier_(tier) {}
  std::int64_t run(std::size_t at_once) {
    for (std::size_t i = 0; i < at_once; ++i) children_.push_back(std::make_unique<one_child>(*this));
    for (auto& child : children_) {
      if (may_begin()) child->begin();
    }
    const loop_hold until_all_ended = loop_.hold();
    loop_.run();
    return good_;
  }
  bool may_begin() { return begun_ < total_ ? (++begun_, true) : false; }
  void ended(one_child& which, bool good) {
    good_ += good ? 1 : 0;
    if (++ended_ == total_) {
      loop_.stop();
    } else if (may_begin()) {
      loop_.call_soon([&which] { which.begin(); });
    }
  }
  host& where() { return loop_.where(); }
  containment_tier tier() const { return tier_; }

 private:
  loop& loop_;
  const std::int64_t total_;
  const containment_tier tier_;
  std::int64_t begun_ = 0, ended_ = 0, good_ = 0;
  std::vector<std::unique_ptr<one_child>> children_;
};

void one_child::begin() {
  exited_ = closed_ = false;
  process_spec spec{{"/bin/true"}, {}, "/"};
  spec.containment = owner_.tier();
  child_ = owner_.where().processes().spawn(std::move(spec), *this);
}
void one_child::on_output_end() { after(closed_); }
void one_child::on_exit(const process_exit& how) {
  good_ = how.code == 0;
  after(exited_);
}
void one_child::after(bool& which) {
  which = true;
  if (!exited_ || !closed_) return;
  child_.reset();
  owner_.ended(*this, good_);
}

template <class Run>
figures measured(std::int64_t total, Run run) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_microseconds(RUSAGE_THREAD);
  if (run() != total) std::abort();
  const double wall = seconds_since(start);
  return {{"spawns_per_s", static_cast<double>(total) / wall},
          {"loop_cpu_us", (cpu_microseconds(RUSAGE_THREAD) - cpu) / static_cast<double>(total)}};
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const std::int64_t total = argument(argc, argv, 1, 1000);
  const auto at_once = static_cast<std::size_t>(argument(argc, argv, 2, 16));
  const auto ours = [=](looptask::containment_tier tier) {
    return [=] {
      return measured(total, [=] {
        looptask::real_host host;
        looptask::loop loop(host);
        return spawner(loop, total, tier).run(at_once);
      });
    };
  };
  const auto bare = [=] { return measured(total, [=] { return bare_loop(total, at_once).run(); }); };
  compare<std::function<figures()>>("spawn", static_cast<int>(argument(argc, argv, 3, 5)),
                                    {{"looptask", ours(looptask::containment_tier::session)},
                                     {"tree", ours(looptask::containment_tier::tree)},
                                     {"bare", bare}});
  print_command(argc, argv);
}
