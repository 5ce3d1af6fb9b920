#include <looptask/stream.hpp>

#include <cerrno>
#include <string>
#include <system_error>

namespace looptask {

namespace detail {
namespace {

constexpr bool includes(readiness all, readiness one) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}
constexpr readiness with(readiness all, readiness one) noexcept {
  return static_cast<readiness>(static_cast<unsigned>(all) | static_cast<unsigned>(one));
}
constexpr readiness without(readiness all, readiness one) noexcept {
  return static_cast<readiness>(static_cast<unsigned>(all) & ~static_cast<unsigned>(one));
}

}  // namespace

duplex::duplex(loop& where, network_descriptor owned, endpoint peer) noexcept
    : loop_(where), fd_(std::move(owned)), peer_(std::move(peer)) {}

duplex::~duplex() {
  LOOPTASK_ASSERT(!is_waited_for(), "stream or listener closed while a task waits for it");
  if (watched_) loop_.unwatch(fd());
}

// With a level-triggered reactor a wrong guess of may_read_ costs a call, but never the event.
std::ptrdiff_t duplex::read(std::span<char> to) noexcept {
  const std::ptrdiff_t got = port().receive(fd(), to);
  if (got == -EAGAIN || (got > 0 && static_cast<std::size_t>(got) < to.size())) may_read_ = false;
  return got;
}

std::ptrdiff_t duplex::write(std::string_view bytes) noexcept {
  const std::ptrdiff_t took = pipe_ ? port().write(fd(), bytes) : port().send(fd(), bytes);
  if (took == -EAGAIN || (took >= 0 && static_cast<std::size_t>(took) < bytes.size())) may_write_ = false;
  return took;
}

int duplex::wait(readiness what, waiter& who) noexcept {
  waiter*& place = what == readiness::read ? reader_ : writer_;
  LOOPTASK_ASSERT(place == nullptr, "two tasks read from one stream, or write to it, at the same time");
  const readiness all = with(wanted_, what);
  try {
    if (!watched_) {
      loop_.watch(fd(), all, *this);
    } else if (all != wanted_) {
      loop_.rewatch(fd(), all);
    }
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  watched_ = true;
  wanted_ = all;
  place = &who;
  return 0;
}

void duplex::forget(const waiter& who) noexcept {
  if (reader_ == &who) reader_ = nullptr;
  if (writer_ == &who) writer_ = nullptr;
}

void duplex::on_ready(readiness ready) {
  readiness unheard = readiness::none;
  if (includes(ready, readiness::read)) {
    may_read_ = true;
    if (reader_ == nullptr) {
      unheard = readiness::read;
    } else if (reader_->on_ready()) {
      reader_ = nullptr;
    }
  }
  if (includes(ready, readiness::write)) {
    may_write_ = true;
    if (writer_ == nullptr) {
      unheard = with(unheard, readiness::write);
    } else if (writer_->on_ready()) {
      writer_ = nullptr;
    }
  }
  if (unheard == readiness::none) return;
  disarm(unheard);
}

// Less interest is never refused.
void duplex::disarm(readiness what) noexcept {
  wanted_ = without(wanted_, what);
  loop_.rewatch(fd(), wanted_);
}

void duplex::fail(int error, std::string_view what) const {
  throw std::system_error(error, std::generic_category(), std::string(what) + " " + peer_.text());
}

bool duplex_await::await_ready() noexcept {
  if (strikes_now()) return true;
  const bool may = what_ == readiness::read ? of_.may_read() : of_.may_write();
  return may && spend() && attempt();
}

void duplex_await::start() {
  error_ = of_.wait(what_, *this);
  if (error_ != 0) complete();
}

bool duplex_await::withdraw() noexcept {
  of_.forget(*this);
  return true;
}

bool duplex_await::on_ready() noexcept {
  if (!attempt()) return false;
  complete();
  return true;
}

bool read_await::attempt() noexcept {
  const std::ptrdiff_t got = of_.read(to_);
  if (got == -EAGAIN) return false;
  if (got < 0) {
    error_ = static_cast<int>(-got);
  } else {
    count_ = static_cast<std::size_t>(got);
  }
  return true;
}

bool write_await::attempt() noexcept {
  if (rest_.empty()) return true;
  const std::ptrdiff_t took = of_.write(rest_);
  if (took == -EAGAIN) return false;
  if (took < 0) {
    error_ = static_cast<int>(-took);
    return true;
  }
  count_ += static_cast<std::size_t>(took);
  rest_.remove_prefix(static_cast<std::size_t>(took));
  return true;
}

// One call for each readiness, so that a peer that reads as fast as we write does not keep the loop.
bool write_all_await::attempt() noexcept {
  const std::size_t before = count_;
  if (!write_await::attempt()) return false;
  if (written_ != &count_) *written_ += count_ - before;
  return error_ != 0 || rest_.empty();
}

}  // namespace detail

stream::stream(loop& where, network_descriptor connected, endpoint peer)
    : duplex_(new detail::duplex(where, std::move(connected), std::move(peer))) {
  LOOPTASK_ASSERT(duplex_->fd() >= 0, "stream of no descriptor");
}

detail::read_await stream::read_some(std::span<char> to) noexcept {
  LOOPTASK_ASSERT(!to.empty(), "read into an empty span, which could not be told from the end");
  return {open_duplex(), to};
}

void stream::shutdown_write() {
  const detail::duplex& of = open_duplex();
  const int answer = of.port().shutdown_write(of.fd());
  if (answer == -ENOTSOCK) of.fail(EINVAL, "shut down writing to");
  if (answer < 0 && answer != -ENOTCONN) of.fail(-answer, "shut down writing to");  // gone already: as good
}

void stream::abort() noexcept {
  if (duplex_) duplex_->port().set(duplex_->fd(), socket_option::abort_on_close, 1);  // a pipe refuses, and is closed
  close();
}

void stream::set(socket_option which, int value) {
  const detail::duplex& of = open_duplex();
  if (const int answer = of.port().set(of.fd(), which, value); answer < 0) of.fail(-answer, "set an option of the socket to");
}

endpoint stream::local() const {
  endpoint is;
  const detail::duplex& of = open_duplex();
  if (const int answer = of.port().local(of.fd(), is); answer < 0 && answer != -ENOTSOCK)
    of.fail(-answer, "own address towards");
  return is;
}

namespace {

using opens = int (network_port::*)(std::array<int, 2>&);

std::array<network_descriptor, 2> open_two(loop& where, opens how, const char* what) {
  network_port& port = where.where().network();
  std::array<int, 2> ends{-1, -1};
  if (const int answer = (port.*how)(ends); answer < 0) throw std::system_error(-answer, std::generic_category(), what);
  return {network_descriptor(port, ends[0]), network_descriptor(port, ends[1])};
}

}  // namespace

stream_pair make_stream_pair(loop& where) {
  auto ends = open_two(where, &network_port::pair, "pair of sockets");
  return {stream(where, std::move(ends[0]), {}), stream(where, std::move(ends[1]), {})};
}

pipe_ends make_pipe(loop& where) {
  auto ends = open_two(where, &network_port::pipe, "pipe");
  pipe_ends made{stream(where, std::move(ends[0]), {}), stream(where, std::move(ends[1]), {})};
  made.writes.open_duplex().writes_to_a_pipe();
  return made;
}

}  // namespace looptask
