#pragma once
// One value that is there later: a promise gives it, its future is awaited for it.
//
// Owner: the loop's thread, both; a remote_promise, made of a promise, is for any one thread at a time. A promise is settled
// once, with a value or an error; one that is dropped unsettled settles with broken_promise, so that nobody waits forever. Its
// future is awaited by one task at a time and gives its result once. The await is a cancel point; if it is cancelled nothing is
// lost: the promise may still be settled, and the future awaited again. Either may be dropped first, and both may outlive the
// loop, to no effect. The shared block comes from the thread's memory_pool; nothing else is allocated on the loop's thread.
//
//   auto [given, awaited] = looptask::make_promise<int>(loop);
//   spawn(loop, computes(std::move(given)));                    // given.set_value(42), or given.set_error(...)
//   int n = co_await awaited;
//   looptask::remote_promise<int> r = std::move(given).remote();  // to a thread, which says r.set_value(42)
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include <looptask/loop.hpp>
#include <looptask/memory_pool.hpp>
#include <looptask/operation.hpp>
#include <looptask/task.hpp>

namespace looptask {

class broken_promise : public std::logic_error {
 public:
  broken_promise() : std::logic_error("a promise was dropped without being settled") {}
};

template <class T = void>
class future;
template <class T = void>
class promise;
template <class T = void>
class remote_promise;

namespace detail {

class future_wait;

// What a promise, its future and an await of it share, and count. The count is plain until share(), and atomic from then on;
// all else belongs to the loop's thread.
class future_state_base {
 public:
  explicit future_state_base(looptask::loop& home) noexcept : home_(home) { home.assert_owner(); }
  future_state_base(const future_state_base&) = delete;
  future_state_base& operator=(const future_state_base&) = delete;

  static void* operator new(std::size_t size) { return memory_pool::take(size); }
  static void operator delete(void* block, std::size_t size) noexcept { memory_pool::give(block, size); }

  void add_owner() noexcept {
    if (shared_) return add_owner_shared();
    ++owners_;
  }
  bool drop_owner() noexcept {  // true: that was the last
    if (shared_) return drop_owner_shared();
    return --owners_ == 0;
  }
  bool others() const noexcept { return owners_ > 1; }  // not shared
  loop_handle share() noexcept;

  bool settled() const noexcept { return settled_; }
  void settle() noexcept;  // the result is there
  void take() noexcept {
    LOOPTASK_ASSERT(!taken_, "future awaited after it has given its result");
    taken_ = true;
  }
  void assert_owner() const noexcept {
    LOOPTASK_ASSERT(thread_ == &this_thread, "promise or future used on a thread other than its loop's (use a remote_promise)");
  }

 protected:
  ~future_state_base() = default;

 private:
  friend class future_wait;
  void add_owner_shared() noexcept;
  bool drop_owner_shared() noexcept;

  looptask::loop& home_;  // for share()
  const void* const thread_ = &this_thread;
  future_wait* waits_ = nullptr;
  std::uint32_t owners_ = 0;
  bool shared_ = false;
  bool settled_ = false;
  bool taken_ = false;
};

template <class T>
class future_state final : public future_state_base {
 public:
  explicit future_state(looptask::loop& home) noexcept : future_state_base(home) {}

  template <class... Args>
  void set_value(Args&&... args) {  // what making the value throws leaves it unsettled
    if constexpr (std::is_reference_v<T>)
      result_.set_value(std::addressof(args)...);
    else
      result_.set_value(std::forward<Args>(args)...);
    settle();
  }
  void set_error(std::exception_ptr error) noexcept {
    result_.set_error(std::move(error));
    settle();
  }
  T get() {
    take();
    return std::move(result_).get();
  }

 private:
  outcome<T> result_;
};

// One of the owners of a state.
template <class T>
class future_ref {
 public:
  future_ref() noexcept = default;
  explicit future_ref(future_state<T>* state) noexcept : state_(state) { state_->add_owner(); }
  future_ref(const future_ref& other) noexcept : future_ref(&*other) {}
  future_ref(future_ref&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  future_ref& operator=(future_ref&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~future_ref() {
    if (state_ != nullptr && state_->drop_owner()) delete state_;
  }
  explicit operator bool() const noexcept { return state_ != nullptr; }
  future_state<T>* operator->() const noexcept {
    LOOPTASK_ASSERT(state_ != nullptr, "promise or future that is empty, or settled already");
    return state_;
  }
  future_state<T>& operator*() const noexcept { return *operator->(); }

 private:
  future_state<T>* state_ = nullptr;
};

class future_wait : public operation {
 public:
  bool await_ready() noexcept;

 protected:
  explicit future_wait(future_state_base& at) noexcept : waits_at_(at) {}
  ~future_wait() = default;
  void stop() noexcept {  // before the state may go
    if (waits_at_.waits_ == this) waits_at_.waits_ = nullptr;
  }

 private:
  friend class future_state_base;
  void start() override;
  bool withdraw() noexcept override;
  future_state_base& waits_at_;
};

template <class T>
class future_await final : public future_wait {
 public:
  explicit future_await(const future_ref<T>& of) noexcept : future_wait(*of), of_(of) {}
  ~future_await() { stop(); }
  T await_resume() {
    finish();
    return of_->get();
  }

 private:
  future_ref<T> of_;
};

}  // namespace detail

template <class T>
class [[nodiscard]] future {
 public:
  future() noexcept = default;  // empty: may only be assigned to
  future(future&& other) noexcept = default;
  future& operator=(future&& other) noexcept = default;

  explicit operator bool() const noexcept { return static_cast<bool>(state_); }
  bool ready() const noexcept { return state_->settled(); }  // awaiting it does not wait
  // The result, or throws the error; once.
  detail::future_await<T> operator co_await() const noexcept { return detail::future_await<T>(state_); }

 private:
  friend class promise<T>;
  explicit future(detail::future_ref<T> state) noexcept : state_(std::move(state)) {}
  detail::future_ref<T> state_;
};

// Empty, and no more to be settled, once it has been settled.
template <class T>
class [[nodiscard]] promise {
 public:
  promise() noexcept = default;
  promise(promise&& other) noexcept = default;
  promise& operator=(promise&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~promise() {
    if (state_ && wanted()) set_error(std::make_exception_ptr(broken_promise()));
  }
  explicit operator bool() const noexcept { return static_cast<bool>(state_); }
  bool wanted() const noexcept { return state_->assert_owner(), state_->others(); }  // its future exists
  // Makes the value of `args`, unless nobody wants it any more. What that throws leaves the promise as it was.
  template <class... Args>
  void set_value(Args&&... args) {
    if (wanted()) state_->set_value(std::forward<Args>(args)...);
    state_ = {};
  }
  void set_error(std::exception_ptr error) noexcept {
    LOOPTASK_ASSERT(error != nullptr, "promise settled with an error that is none");
    if (wanted()) state_->set_error(std::move(error));
    state_ = {};
  }
  // While the loop lives: makes it one for other threads.
  remote_promise<T> remote() && {
    loop_handle home = state_->share();
    return remote_promise<T>(std::move(home), std::move(state_));
  }

  // The two ends of a new one.
  static std::pair<promise, future<T>> make(loop& home) {
    promise given;
    given.state_ = detail::future_ref<T>(new detail::future_state<T>(home));
    future<T> awaited(given.state_);
    return {std::move(given), std::move(awaited)};
  }

 private:
  detail::future_ref<T> state_;
};

template <class T = void>
std::pair<promise<T>, future<T>> make_promise(loop& home) {
  return promise<T>::make(home);
}

// For any thread, one at a time. Settling sends the result home through loop_handle::post: it is there in one of the next
// turns, in order of posting. False, and the value is destroyed on the calling thread, once the loop is gone. What moving the
// value throws leaves the promise as it was. It does not keep the loop running: who waits in loop::run() for what only threads
// will do takes a loop::hold().
template <class T>
class [[nodiscard]] remote_promise {
  using value_type = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

 public:
  remote_promise() noexcept = default;
  remote_promise(remote_promise&& other) noexcept = default;
  remote_promise& operator=(remote_promise&& other) noexcept {
    std::swap(home_, other.home_);
    std::swap(state_, other.state_);
    return *this;
  }
  ~remote_promise() {
    if (state_) set_error(std::make_exception_ptr(broken_promise()));
  }
  explicit operator bool() const noexcept { return static_cast<bool>(state_); }
  bool set_value(value_type value = value_type()) requires(!std::is_reference_v<T>) {
    return send([state = state_, sent = std::move(value)]() mutable { deliver(*state, std::move(sent)); });
  }
  bool set_error(std::exception_ptr error) {
    LOOPTASK_ASSERT(error != nullptr, "promise settled with an error that is none");
    return send([state = state_, sent = std::move(error)]() mutable { state->set_error(std::move(sent)); });
  }

 private:
  friend class promise<T>;
  remote_promise(loop_handle home, detail::future_ref<T> state) noexcept : home_(std::move(home)), state_(std::move(state)) {}

  // The delivery owns the state alone before it is on its way, so that the state goes where it came from.
  bool send(unique_function<void()> delivery) noexcept {
    state_ = {};
    return home_.post(std::move(delivery));
  }
  static void deliver(detail::future_state<T>& to, value_type&& value) {
    try {
      if constexpr (std::is_void_v<T>)
        to.set_value();
      else
        to.set_value(std::move(value));
    } catch (...) {
      to.set_error(std::current_exception());
    }
  }

  loop_handle home_;
  detail::future_ref<T> state_;
};

}  // namespace looptask
