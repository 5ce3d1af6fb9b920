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
template <class T>
class callback_operation;
}

template <class T = void>
class completion {
 public:
  completion(completion&& other) noexcept { take(other); }
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
  void set_value(Args&&... args) {
    if (of_ != nullptr) of_->result_.set_value(std::forward<Args>(args)...);
    settle();
  }
  void set_error(std::exception_ptr error) noexcept {
    if (of_ != nullptr) of_->result_.set_error(std::move(error));
    settle();
  }
  bool wanted() const noexcept { return of_ != nullptr; }  // false once the await has ended

 private:
  friend class detail::callback_operation<T>;
  explicit completion(detail::callback_operation<T>& of) noexcept : of_(&of) { of.completion_ = this; }
  void take(completion& other) noexcept {
    of_ = std::exchange(other.of_, nullptr);
    if (of_ != nullptr) of_->completion_ = this;
  }
  void settle() noexcept {
    if (of_ != nullptr) std::exchange(of_, nullptr)->settled();
  }
  void drop() noexcept {
    if (of_ != nullptr) set_error(std::make_exception_ptr(completion_dropped()));
  }
  detail::callback_operation<T>* of_ = nullptr;  // knows this completion
};

namespace detail {

template <class T>
class callback_operation : public operation {
 public:
  bool await_ready() noexcept { return strikes_now(); }
  T await_resume() {
    finish();
    return std::move(result_).get();
  }

 protected:
  callback_operation() noexcept = default;
  ~callback_operation() {
    disconnect();
    if (is_waiting() && abort_) static_cast<void>(abort_());
  }
  completion<T> connect() noexcept { return completion<T>(*this); }
  void set_abort(unique_function<bool()> hook) noexcept { abort_ = std::move(hook); }
  void fail(std::exception_ptr error) noexcept {
    disconnect();
    result_.set_error(std::move(error));
    if (is_waiting()) complete();
  }

 private:
  friend class completion<T>;

  bool withdraw() noexcept override {
    if (!abort_) return false;
    aborting_ = true;
    const bool called_off = abort_();
    aborting_ = false;
    abort_ = nullptr;
    if (called_off) {
      disconnect();
    } else if (settled_) {
      complete();
    }
    return called_off;
  }
  void settled() noexcept {
    completion_ = nullptr;
    settled_ = true;
    if (!aborting_ && is_waiting()) complete();  // else withdraw() decides
  }
  void disconnect() noexcept {
    if (completion_ != nullptr) std::exchange(completion_, nullptr)->of_ = nullptr;
  }

  outcome<T> result_;
  completion<T>* completion_ = nullptr;
  unique_function<bool()> abort_;
  bool aborting_ = false;
  bool settled_ = false;
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

// `start(completion<T>)` begins the work and returns the abort hook, a bool(), or nothing. What it throws, the await throws.
template <class T = void, std::invocable<completion<T>> Start>
detail::callback_await<T, Start> await_callback(Start start) {
  return detail::callback_await<T, Start>(std::move(start));
}

}  // namespace looptask
