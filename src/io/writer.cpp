#include <looptask/writer.hpp>

#include <cerrno>

namespace looptask {

writer::writer(const stream& to, writer_marks marks) noexcept : to_(to.open_duplex()), marks_(marks) {
  LOOPTASK_ASSERT(marks.low <= marks.high, "low mark of a writer above its high one");
}

writer::~writer() {
  LOOPTASK_ASSERT(drains_.empty(), "writer destroyed while a task waits for it");
  if (waits_) to_.forget(*this);
}

void writer::write(std::string_view bytes) {
  throw_error();
  kept_.append(bytes);
  if (!waits_ && !kept_.empty()) to_.where().call_soon(*this);
}

void writer::throw_error() const {
  if (error_ != 0) to_.fail(error_, "write to");
}

void writer::fail(int error) noexcept {
  error_ = error;
  kept_.consume(kept_.size());
}

void writer::send_once() noexcept {
  const std::ptrdiff_t took = to_.write(kept_.view());
  if (took >= 0) {
    kept_.consume(static_cast<std::size_t>(took));
  } else if (took != -EAGAIN) {
    fail(static_cast<int>(-took));
  }
}

// While it waits for the stream, only the stream's readiness makes it go on.
void writer::push() noexcept {
  if (waits_ || kept_.empty()) return;
  send_once();
  if (!kept_.empty()) {
    if (const int refused = to_.wait(readiness::write, *this)) {
      fail(refused);
    } else {
      waits_ = true;
    }
  }
  wake_drained();
}

bool writer::on_ready() noexcept {
  send_once();
  waits_ = !kept_.empty();
  wake_drained();
  return !waits_;
}

void writer::wake_drained() noexcept {
  for (drain_await* next = drains_.front(); next != nullptr;) {
    drain_await& one = *next;
    next = drains_.next(one);
    if (kept_.size() > one.wait_for_) continue;
    one.unlink();
    one.complete();
  }
}

task<> writer::close() {
  co_await flush();
  if (const int answer = to_.port().shutdown_write(to_.fd()); answer < 0 && answer != -ENOTCONN) {
    to_.fail(-answer, "shut down writing to");
  }
}

bool writer::drain_await::await_ready() noexcept {
  if (strikes_now()) return true;
  of_.push();
  return of_.buffered() <= ready_at_ && spend();
}

void writer::drain_await::start() {
  if (of_.buffered() <= ready_at_) return complete();  // the turn's budget was spent
  of_.drains_.push_back(*this);
}

}  // namespace looptask
