#include <looptask/connect.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <looptask/sleep.hpp>

namespace looptask {
namespace {

constexpr duration first_pause = std::chrono::milliseconds(1);
constexpr duration longest_pause = std::chrono::milliseconds(64);

// Until an attempt that goes on is over.
class connected_await final : public detail::duplex_await {
 public:
  explicit connected_await(detail::duplex& of) noexcept : duplex_await(of, readiness::write) {}
  ~connected_await() = default;
  bool await_ready() noexcept { return strikes_now(); }  // the kernel would say "no error" of one that goes on
  int await_resume() {
    finish();
    return error_;
  }

 private:
  bool attempt() noexcept override {
    error_ = -of_.port().connect_result(of_.fd());
    return true;
  }
};

// A free port of this machine may be given to the very socket that asks for it, which then is connected to itself.
bool to_itself(const detail::duplex& of) {
  endpoint is;
  return of.peer().is_ip() && of.port().local(of.fd(), is) == 0 && is == of.peer();
}

}  // namespace

task<stream> connect(endpoint to) {
  co_await detail::checkpoint();
  loop& where = this_loop();
  network_port& port = where.where().network();
  network_descriptor fd(port, port.open(to));
  if (!fd) throw std::system_error(-fd.get(), std::generic_category(), "connect " + to.text());
  stream made(where, std::move(fd), to);
  detail::duplex& duplex = made.open_duplex();
  int answer = port.connect(duplex.fd(), to);
  for (duration pause = first_pause; answer == -EAGAIN && !to.is_ip(); pause = std::min(2 * pause, longest_pause)) {
    co_await sleep_for(pause);
    answer = port.connect(duplex.fd(), to);
  }
  if (answer == -EINPROGRESS) answer = -co_await connected_await(duplex);
  if (answer == 0 && to_itself(duplex)) answer = -ECONNREFUSED;
  if (answer < 0) duplex.fail(-answer, "connect");
  if (to.is_ip())
    port.set(duplex.fd(), socket_option::nodelay, 1);  // refused by one that has ended since, which its reader sees
  co_return made;
}

}  // namespace looptask
