#pragma once
// Awaiting something that answers by a callback, with a way to call it off.
//
// Owner: the loop's thread, completion included (other threads post to the loop). Whoever starts the work gets a completion and
// settles it once; one that is dropped unsettled fails the await with completion_dropped, so that nobody waits forever. The
// abort hook is called on cancellation, at most once, and says what becomes of it: true: called off now, the completion is not
// used any more (it may still be, to no effect); false: it cannot be, the await ends when the completion is settled. Without a
// hook the answer is false. The hook is also called if the task is destroyed with its loop. Neither may throw or run the loop.
//
//   int n = co_await looptask::await_callback<int>([&](looptask::completion<int> done) {
//     auto id = resolver.ask(name, [done = std::move(done)](int n) mutable { done.set_value(n); });
//     return [&resolver, id] { return resolver.forget(id); };
//   });
#include <concepts>
#include <exception>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <looptask/function.hpp>
#include <looptask/operation.hpp>
#include <looptask/task.hpp>

namespace looptask {

class completion_dropped : public std::logic_error {
 public:
  completion_dropped() : std::logic_error("the completion of an awaited callback was dropped without being settled") {}
};

namespace detail {

class callback_base;
template <class T>
class callback_operation;

class completion_base {
 public:
  bool wanted() const noexcept { return of_ != nullptr; }  // false once the await has ended

 protected:
  explicit completion_base(callback_base& of) noexcept;
  completion_base(completion_base&& other) noexcept { take(other); }
  ~completion_base() = default;
  void take(completion_base& other) noexcept;
  void settle() noexcept;
  callback_base* of_ = nullptr;  // knows this completion

 private:
  friend class callback_base;
};

class callback_base : public operation {
 public:
  bool await_ready() noexcept { return strikes_now(); }

 protected:
  callback_base() noexcept = default;
  ~callback_base();
  void set_abort(unique_function<bool()> hook) noexcept;
  void disconnect() noexcept;

 private:
  friend class completion_base;
  bool withdraw() noexcept override;
  void settled() noexcept;

  completion_base* completion_ = nullptr;
  unique_function<bool()> abort_;
  bool aborting_ = false;
  bool settled_ = false;
};

}  // namespace detail

template <class T = void>
class completion : public detail::completion_base {
 public:
  completion(completion&& other) noexcept = default;
  completion& operator=(completion&& other) noexcept {
    if (this != &other) {
      drop();
      take(other);
    }
    return *this;
  }
  ~completion() { drop(); }

  // After the await has ended these do nothing.
  template <class... Args>
  void set_value(Args&&... args);
  void set_error(std::exception_ptr error) noexcept;

 private:
  friend class detail::callback_operation<T>;
  explicit completion(detail::callback_operation<T>& of) noexcept : completion_base(of) {}
  void drop() noexcept {
    if (wanted()) set_error(std::make_exception_ptr(completion_dropped()));
  }
};

namespace detail {

template <class T>
class callback_operation : public callback_base {
 public:
  T await_resume() {
    finish();
    return std::move(result_).get();
  }

 protected:
  callback_operation() noexcept = default;
  ~callback_operation() = default;
  completion<T> connect() noexcept { return completion<T>(*this); }
  void fail(std::exception_ptr error) noexcept {
    disconnect();
    result_.set_error(std::move(error));
    if (is_waiting()) complete();
  }

 private:
  friend class completion<T>;
  outcome<T> result_;
};

template <class T, class Start>
class callback_await final : public callback_operation<T> {
 public:
  explicit callback_await(Start begin) : begin_(std::move(begin)) {}
  ~callback_await() = default;

 private:
  void start() override {
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Start&, completion<T>>>) {
        begin_(this->connect());
      } else {
        this->set_abort(begin_(this->connect()));
      }
    } catch (...) {
      this->fail(std::current_exception());
    }
  }
  Start begin_;
};

}  // namespace detail

template <class T>
template <class... Args>
void completion<T>::set_value(Args&&... args) {
  if (!wanted()) return;
  static_cast<detail::callback_operation<T>*>(of_)->result_.set_value(std::forward<Args>(args)...);
  settle();
}

template <class T>
void completion<T>::set_error(std::exception_ptr error) noexcept {
  if (!wanted()) return;
  static_cast<detail::callback_operation<T>*>(of_)->result_.set_error(std::move(error));
  settle();
}

// `start(completion<T>)` begins the work and returns the abort hook, a bool(), or nothing. What it throws, the await throws.
template <class T = void, std::invocable<completion<T>> Start>
detail::callback_await<T, Start> await_callback(Start start) {
  return detail::callback_await<T, Start>(std::move(start));
}

}  // namespace looptask
