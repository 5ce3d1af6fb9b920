#pragma once
// Calling what would block the loop: on a thread of the loop's pool (host::workers()), while the task waits.
//
// Owner: the loop's thread; `f` runs on another one, once, and is destroyed there; one that was never begun is destroyed on the
// loop's thread. Its result or its exception is what the await delivers. `f` may not touch the loop or anything of it (but
// loop_handle::post), nor wait for it. A cancel point: what is still queued is taken out of the queue. What runs cannot be
// stopped, so it is for the caller to say what a cancellation then does:
//   - on_cancel::wait: the await ends with the call, with its result; the cancellation strikes at the next await. Also a loop
//     that is destroyed waits for it. So `f` may refer to what lives in the task that awaits.
//   - on_cancel::abandon: the await throws `cancelled` at once, and a loop that is destroyed does not wait. The call goes on
//     alone, listed in host::workers().statistics(), and keeps one of the pool's threads until it ends; its result is destroyed
//     there. So `f` must own all it uses: captures by value, no reference, no `this`. What must go on beyond the end of main()
//     is not for this mode.
//   A call that has ended when the cancellation comes delivers its result, in both modes.
// std::system_error if the pool has no thread and can make none. `f` is destroyed before the await ends.
//
//   auto work = [path] { return slow_checksum(path); };
//   std::uint32_t sum = co_await looptask::run_blocking(std::move(work));
#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <looptask/host.hpp>
#include <looptask/operation.hpp>
#include <looptask/task.hpp>

namespace looptask {

enum class on_cancel : bool { wait, abandon };  // while the call runs

namespace detail {

class blocking_base;

template <class F>
concept blocking_function = std::invocable<F&> && !is_task<std::invoke_result_t<F&>>;

// Shared by the await and the pool.
class blocking_call : public worker_call {
 public:
  std::string_view name() const noexcept final { return name_; }

 protected:
  explicit blocking_call(std::string_view name) : name_(name) {}
  ~blocking_call() override = default;

 private:
  friend class blocking_base;
  void ended() noexcept final;
  const std::string name_;
  blocking_base* awaited_by_ = nullptr;  // the loop's thread only; nullptr: nobody (any more)
};

template <class F>
class blocking_call_of final : public blocking_call {
 public:
  using value = std::invoke_result_t<F&>;
  blocking_call_of(F f, std::string_view name) : blocking_call(name), f_(std::move(f)) {}
  ~blocking_call_of() override = default;
  outcome<value> result;

 private:
  void run() noexcept override {
    try {
      if constexpr (std::is_void_v<value>) {
        (*f_)();
        result.set_value();
      } else {
        result.set_value((*f_)());
      }
    } catch (...) {
      result.set_error(std::current_exception());
    }
    f_.reset();
  }
  std::optional<F> f_;
};

class blocking_base : public operation {
 public:
  bool await_ready() noexcept { return strikes_now(); }

 protected:
  blocking_base(std::shared_ptr<blocking_call> call, on_cancel how) noexcept
      : call_(std::move(call)), abandons_(how == on_cancel::abandon) {}
  ~blocking_base();
  blocking_call& finished();  // throws if it was cancelled, or could not be submitted

 private:
  friend class blocking_call;
  void start() override;
  bool withdraw() noexcept override;
  void let_go() noexcept;

  std::shared_ptr<blocking_call> call_;
  const bool abandons_;
  std::exception_ptr refused_;
  loop_hold hold_;  // while it waits
};

template <class F>
class blocking_await final : public blocking_base {
 public:
  blocking_await(F f, on_cancel how, std::string_view name)
      : blocking_base(std::make_shared<blocking_call_of<F>>(std::move(f), name), how) {}
  ~blocking_await() = default;
  std::invoke_result_t<F&> await_resume() { return std::move(static_cast<blocking_call_of<F>&>(finished()).result).get(); }
};

}  // namespace detail

// `name`: for statistics.
template <detail::blocking_function F>
detail::blocking_await<F> run_blocking(F f, on_cancel how = on_cancel::wait, std::string_view name = "run_blocking") {
  return detail::blocking_await<F>(std::move(f), how, name);
}

}  // namespace looptask
