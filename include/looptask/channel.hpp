#pragma once
// A bounded line of values from any number of senders to any number of receivers, in the order sent.
//
// Owner: the loop's thread. Send waits while the channel is full, receive while it is empty: a slow receiver holds up its
// senders. First come, first served on both sides; a value that comes while somebody waits for one is handed to the first of
// them. With a capacity of 0 each send waits for the receive that takes its value. Both are cancel points. A value whose send
// was cancelled has not entered the channel and is destroyed with the send; a value that was handed to a receiver before its
// cancellation is delivered. After close() nothing enters; what is in the channel can still be received.
//
// An exception of T's move constructor comes out of the send or receive that called it, and not out of the other side: in a
// send the value has not entered, in a receive it is still in the channel, or lost if it was on its way to the caller already.
// Memory for `capacity` values is taken at once, nothing after that. The channel outlives its waiters (asserted).
//
//   looptask::channel<line> lines(64);
//   co_await lines.send(std::move(l));                                    // producer; in the end lines.close()
//   while (true) {                                                        // consumer
//     std::optional<line> next = co_await lines.receive();
//     if (!next) break;
//   }
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <looptask/wait_queue.hpp>

namespace looptask {

class channel_closed : public std::runtime_error {
 public:
  channel_closed();
};

struct channel_statistics {
  std::size_t capacity = 0;
  std::size_t held = 0;       // values in the channel
  std::size_t most_held = 0;  // at any one time so far
  std::uint64_t sent = 0;     // values that entered so far, or were handed to a receiver
  std::uint64_t received = 0;
  bool closed = false;
  wait_statistics senders;
  wait_statistics receivers;
};

namespace detail {

// A queue of at most `capacity` values, in memory of its own.
template <class T>
class bounded_ring {
 public:
  explicit bounded_ring(std::size_t capacity)
      : capacity_(capacity), slots_(capacity == 0 ? nullptr : std::allocator<T>().allocate(capacity)) {}
  bounded_ring(const bounded_ring&) = delete;
  bounded_ring& operator=(const bounded_ring&) = delete;
  ~bounded_ring() {
    while (size_ != 0) pop();
    if (slots_ != nullptr) std::allocator<T>().deallocate(slots_, capacity_);
  }

  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t most() const noexcept { return most_; }
  bool empty() const noexcept { return size_ == 0; }
  bool full() const noexcept { return size_ == capacity_; }
  T& front() noexcept { return slots_[first_]; }
  template <class U>
  void push(U&& value) {  // not when it is full
    std::size_t at = first_ + size_;
    if (at >= capacity_) at -= capacity_;
    std::construct_at(slots_ + at, std::forward<U>(value));
    if (++size_ > most_) most_ = size_;
  }
  void pop() noexcept {
    std::destroy_at(slots_ + first_);
    if (++first_ == capacity_) first_ = 0;
    --size_;
  }

 private:
  const std::size_t capacity_;
  T* const slots_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t most_ = 0;
};

// Keeps what moving a value has thrown until the task goes on that moved it. Nothing at all if moves do not throw.
template <bool Throws>
class move_error {
 public:
  template <class F>
  void guard(F move) noexcept {
    move();
  }
  void rethrow() const noexcept {}
};
template <>
class move_error<true> {
 public:
  template <class F>
  void guard(F move) noexcept {
    try {
      move();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void rethrow() {
    if (error_) std::rethrow_exception(std::move(error_));
  }

 private:
  std::exception_ptr error_;
};

}  // namespace detail

template <class T>
class channel {
  static_assert(std::is_object_v<T> && std::is_move_constructible_v<T> && std::is_nothrow_destructible_v<T>);
  using move_error = detail::move_error<!std::is_nothrow_move_constructible_v<T>>;

 public:
  class send_await;
  class receive_await;

  explicit channel(std::size_t capacity) : held_(capacity) {}
  ~channel() {  // and of what is in it
    LOOPTASK_ASSERT(senders_.empty() && receivers_.empty(), "channel destroyed while tasks wait for it");
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  // co_await. Throws channel_closed if the channel is closed, or gets closed while this waits.
  send_await send(T value) { return send_await(*this, std::move(value)); }
  // co_await: the next value; nullopt if the channel is closed and empty.
  receive_await receive() noexcept { return receive_await(*this); }
  // False, and `value` is as it was, if it would have to wait. Throws channel_closed.
  template <class U = T>
  requires std::is_constructible_v<T, U>
  bool try_send(U&& value) {
    if (closed_) throw channel_closed();
    if (!has_room()) return false;
    put(std::forward<U>(value));
    return true;
  }
  std::optional<T> try_receive() {  // nullopt if it would have to wait, or is closed and empty
    std::optional<T> value;
    take(value);
    return value;
  }
  // Senders that wait throw channel_closed; their values stay out. Receivers that wait get nullopt. Idempotent.
  void close() noexcept;

  bool is_closed() const noexcept { return closed_; }
  std::size_t size() const noexcept { return held_.size(); }  // without the values of senders that wait
  std::size_t capacity() const noexcept { return held_.capacity(); }
  channel_statistics statistics() const noexcept {
    return {held_.capacity(),     held_.size(), held_.most(),          sent_,
            sent_ - held_.size(), closed_,      senders_.statistics(), receivers_.statistics()};
  }

 private:
  // While a sender waits the channel is full and no receiver waits; while a receiver waits it is empty, and no sender waits.
  bool has_room() const noexcept { return !held_.full() || !receivers_.empty(); }
  bool has_value() const noexcept { return !held_.empty() || !senders_.empty(); }
  template <class U>
  void put(U&& value);
  void take(std::optional<T>& into);

  detail::bounded_ring<T> held_;
  std::uint64_t sent_ = 0;
  bool closed_ = false;
  wait_queue senders_;
  wait_queue receivers_;
};

template <class T>
class channel<T>::send_await final : public waits_in<channel, &channel::senders_> {
 public:
  send_await(channel& of, T&& value) noexcept(std::is_nothrow_move_constructible_v<T>)
      : waits_in<channel, &channel::senders_>(of), value_(std::move(value)) {}
  ~send_await() = default;
  bool await_ready() noexcept {
    if (this->strikes_now()) return true;
    if (!may_go_on() || !this->spend()) return false;
    go_on();
    return true;
  }
  void await_resume() {
    this->finish();
    error_.rethrow();
    if (refused_) throw channel_closed();
  }

 private:
  friend class channel;
  bool may_go_on() const noexcept { return this->of_.closed_ || this->of_.has_room(); }
  void go_on() noexcept {
    refused_ = this->of_.closed_;
    if (!refused_) error_.guard([this] { this->of_.put(std::move(value_)); });
  }
  void start() override {
    if (!may_go_on()) return this->enter();
    go_on();  // the turn's budget was spent
    this->complete();
  }

  T value_;
  bool refused_ = false;
  [[no_unique_address]] move_error error_;
};

template <class T>
class channel<T>::receive_await final : public waits_in<channel, &channel::receivers_> {
 public:
  explicit receive_await(channel& of) noexcept : waits_in<channel, &channel::receivers_>(of) {}
  ~receive_await() = default;
  bool await_ready() noexcept {
    if (this->strikes_now()) return true;
    if (!may_go_on() || !this->spend()) return false;
    go_on();
    return true;
  }
  std::optional<T> await_resume() {
    this->finish();
    error_.rethrow();
    return std::move(value_);
  }

 private:
  friend class channel;
  bool may_go_on() const noexcept { return this->of_.closed_ || this->of_.has_value(); }
  void go_on() noexcept {
    error_.guard([this] { this->of_.take(value_); });
  }
  void start() override {
    if (!may_go_on()) return this->enter();
    go_on();  // the turn's budget was spent
    this->complete();
  }

  std::optional<T> value_;
  [[no_unique_address]] move_error error_;
};

template <class T>
template <class U>
void channel<T>::put(U&& value) {
  if (auto* const first = static_cast<receive_await*>(receivers_.front())) {
    first->value_.emplace(std::forward<U>(value));
    receivers_.wake(*first);
  } else {
    held_.push(std::forward<U>(value));
  }
  ++sent_;
}

template <class T>
void channel<T>::take(std::optional<T>& into) {
  if (held_.empty()) {
    auto* const first = static_cast<send_await*>(senders_.front());  // only with a capacity of 0
    if (first == nullptr) return;
    into.emplace(std::move(first->value_));
    ++sent_;
    senders_.wake(*first);
    return;
  }
  into.emplace(std::move(held_.front()));
  held_.pop();
  while (!senders_.empty() && !held_.full()) {
    auto* const first = static_cast<send_await*>(senders_.front());
    first->go_on();  // if it fails the place is for the next
    senders_.wake(*first);
  }
}

template <class T>
void channel<T>::close() noexcept {
  closed_ = true;
  while (!senders_.empty()) {
    auto* const first = static_cast<send_await*>(senders_.front());
    first->refused_ = true;
    senders_.wake(*first);
  }
  while (!receivers_.empty()) receivers_.wake(*receivers_.front());
}

}  // namespace looptask
