// W6 without a runtime: level-triggered epoll, one recv and one send for each request. What is physically there to win.
// usage: bare w6
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peers/measured.hpp"

namespace looptask::bench {
namespace {

void succeed(bool good) {
  if (good) return;
  std::perror("bare");
  std::abort();
}

void add(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  succeed(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

void accept_one(int epoll, int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  succeed(fd >= 0);
  const int yes = 1;
  succeed(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
  add(epoll, fd);
}

void echo(int fd) {
  char bytes[4096];
  const ssize_t size = recv(fd, bytes, sizeof bytes, 0);
  if (size > 0) {
    succeed(send(fd, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size);
  } else {
    close(fd);
  }
}

void w6(const options&) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  succeed(bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(listener, 128) == 0);
  succeed(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  std::printf("PORT %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  succeed(epoll >= 0);
  add(epoll, listener);
  while (true) {
    epoll_event ready[64];
    const int count = epoll_wait(epoll, ready, 64, -1);
    for (int i = 0; i < count; ++i) {
      if (ready[i].data.fd == listener) {
        accept_one(epoll, listener);
      } else {
        echo(ready[i].data.fd);
      }
    }
  }
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  return run_workload(argc, argv, {{"w6", w6}});
}
