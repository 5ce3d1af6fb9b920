#include <looptask/listener.hpp>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace looptask {
namespace {

// Of the connection, not of the listener: Linux hands on what had happened to it (accept(2)).
bool broke_before(int error) noexcept {
  switch (error) {
    case ECONNABORTED:
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

bool lacks_something(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

// A socket's file where nobody listens any more. Whoever listens and has no room is there.
bool is_stale(network_port& port, const endpoint& at) {
  if (!port.socket_file(at.name())) return false;
  const network_descriptor probe(port, port.open(at));
  return probe && port.connect(probe.get(), at) == -ECONNREFUSED;
}

int bind_to(network_port& port, int fd, const endpoint& at) {
  const int answer = port.bind(fd, at);
  if (answer != -EADDRINUSE || at.what() != endpoint::kind::path || !is_stale(port, at)) return answer;
  port.remove_file(at.name());
  return port.bind(fd, at);
}

}  // namespace

namespace detail {

listening::~listening() {
  const endpoint& at = door.peer();
  if (file && door.port().socket_file(at.name()) == file) door.port().remove_file(at.name());
}

// True: a connection, or an error that is the listener's own. False: none now.
bool accept_await::attempt() noexcept {
  starved_ = false;
  while (true) {
    const int answer = of_.door.port().accept(of_.door.fd(), peer_);
    if (answer >= 0) {
      accepted_ = network_descriptor(of_.door.port(), answer);
      return true;
    }
    if (answer == -EAGAIN) return false;
    if (lacks_something(-answer)) {
      starved_ = true;
      ++of_.counts.starved;
      return false;
    }
    if (!broke_before(-answer)) {
      error_ = -answer;
      return true;
    }
    ++of_.counts.broken;
  }
}

void accept_await::start() {
  bind(where());
  wait();
}

void accept_await::wait() noexcept {
  of_.door.forget(*this);
  error_ = of_.door.wait(readiness::read, *this);
  if (error_ != 0) return complete();
  if (starved_) rest();
}

// When descriptors are lacking the reactor would report what waits in the backlog without end.
void accept_await::rest() noexcept {
  of_.door.disarm(readiness::read);
  arm_after(pause_);
  pause_ = std::min(2 * pause_, longest_pause);
}

bool accept_await::withdraw() noexcept {
  timer::cancel();
  of_.door.forget(*this);
  return true;
}

bool accept_await::on_ready() noexcept {
  if (attempt()) {
    complete();
    return true;
  }
  if (starved_) rest();
  return false;
}

void accept_await::on_timer() {
  if (attempt()) {
    of_.door.forget(*this);
    return complete();
  }
  if (starved_) return rest();
  pause_ = first_pause;
  wait();
}

stream accept_await::await_resume() {
  finish();
  if (error_ != 0) throw std::system_error(error_, std::generic_category(), "accept on " + of_.door.peer().text());
  ++of_.counts.accepted;
  return {where(), std::move(accepted_), std::move(peer_)};
}

}  // namespace detail

listener listen(loop& where, const endpoint& at, listen_options options) {
  network_port& port = where.where().network();
  const auto checked = [&at](int answer) {
    if (answer < 0) throw std::system_error(-answer, std::generic_category(), "listen on " + at.text());
    return answer;
  };
  network_descriptor fd(port, checked(port.open(at)));
  if (at.is_ip()) {
    // What accept() makes has inherited nodelay.
    checked(port.set(fd.get(), socket_option::nodelay, 1));
    checked(port.set(fd.get(), socket_option::reuse_address, options.reuse_address ? 1 : 0));
    checked(port.set(fd.get(), socket_option::reuse_port, options.reuse_port ? 1 : 0));
  }
  if (at.what() == endpoint::kind::ip6) checked(port.set(fd.get(), socket_option::ip6_only, options.ip6_only ? 1 : 0));
  checked(bind_to(port, fd.get(), at));
  endpoint bound = at;
  const int number = fd.get();
  if (at.is_ip()) checked(port.local(number, bound));
  auto made = std::make_unique<detail::listening>(where, std::move(fd), std::move(bound));
  if (at.what() == endpoint::kind::path) made->file = port.socket_file(at.name());
  checked(port.listen(number, options.backlog));
  return listener(std::move(made));
}

}  // namespace looptask
