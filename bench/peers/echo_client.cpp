// The client of W6, the same for all servers: starts one on the first processor, reads "PORT n" from it, plays ping-pong with
// it from the last processor, and stops it. usage: echo_client PEER CONNECTIONS BYTES SECONDS SERVER [ARGUMENT...]
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "workloads/workload.hpp"

namespace looptask::bench {
namespace {

void succeed(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::exit(1);
}

void run_on(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(processor), &only);
  sched_setaffinity(0, sizeof only, &only);  // where it is not allowed, the figures are only less steady
}

class server {
 public:
  explicit server(char** command) {
    int output[2];
    succeed(pipe(output) == 0, "pipe");
    pid_ = fork();
    succeed(pid_ >= 0, "fork");
    if (pid_ == 0) {
      run_on(0);
      dup2(output[1], STDOUT_FILENO);
      close(output[0]);
      close(output[1]);
      execv(command[0], command);
      std::perror(command[0]);
      _exit(127);
    }
    close(output[1]);
    std::FILE* const said = fdopen(output[0], "r");
    int port = 0;
    if (said == nullptr || std::fscanf(said, "PORT %d", &port) != 1) {
      std::fprintf(stderr, "the server named no port\n");
      std::exit(1);
    }
    std::fclose(said);
    port_ = static_cast<std::uint16_t>(port);
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::uint16_t port() const { return port_; }
  nanoseconds_count cpu() const {
    clockid_t clock = 0;
    succeed(clock_getcpuclockid(pid_, &clock) == 0, "clock_getcpuclockid");
    return reading_of(clock);
  }

 private:
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

struct connection {
  int fd = -1;
  std::size_t missing = 0;  // of the reply
  nanoseconds_count asked = 0;
};

int connected(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  succeed(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connect");
  const int yes = 1;
  succeed(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0, "setsockopt");
  return fd;
}

class players {
 public:
  players(std::uint16_t port, std::size_t count, std::size_t bytes) : question_(bytes, 'x'), all_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      all_[i].fd = connected(port);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      succeed(epoll_ctl(epoll_, EPOLL_CTL_ADD, all_[i].fd, &event) == 0, "epoll_ctl");
    }
    for (connection& each : all_) ask(each);
  }
  // Adds how long replies took, until `end`.
  void play(nanoseconds_count end, lateness* took) {
    epoll_event ready[64];
    while (monotonic_now() < end) {
      const int count = epoll_wait(epoll_, ready, 64, 100);
      for (int i = 0; i < count; ++i) take(all_[ready[i].data.u64], took);
    }
  }

 private:
  void ask(connection& which) {
    which.missing = question_.size();
    which.asked = monotonic_now();
    succeed(send(which.fd, question_.data(), question_.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(question_.size()), "send");
  }
  void take(connection& which, lateness* took) {
    char bytes[65536];
    const ssize_t size = recv(which.fd, bytes, std::min(sizeof bytes, which.missing), MSG_DONTWAIT);
    succeed(size > 0, "recv");
    which.missing -= static_cast<std::size_t>(size);
    if (which.missing != 0) return;
    if (took != nullptr) took->add(monotonic_now() - which.asked);
    ask(which);
  }

  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::string question_;
  std::vector<connection> all_;
};

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  if (argc < 6) {
    std::fprintf(stderr, "usage: %s PEER CONNECTIONS BYTES SECONDS SERVER [ARGUMENT...]\n", argv[0]);
    return 2;
  }
  const server asked(argv + 5);
  run_on(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) - 1);
  players all(asked.port(), static_cast<std::size_t>(std::atoll(argv[2])), static_cast<std::size_t>(std::atoll(argv[3])));
  all.play(monotonic_now() + one_second / 5, nullptr);  // to warm up
  lateness took(4'000'000);
  const nanoseconds_count cpu = asked.cpu();
  const stopwatch watch;
  all.play(monotonic_now() + static_cast<nanoseconds_count>(std::atof(argv[4]) * 1e9), &took);
  const double wall = watch.wall();
  const auto requests = static_cast<double>(took.count());
  line result("w6", argv[1]);
  result.put("req_s", requests / wall * 1e9).put("server_cpu_us", static_cast<double>(asked.cpu() - cpu) / 1e3 / requests);
  took.put_in(result);
  result.print();
}
