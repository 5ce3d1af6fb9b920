#pragma once
// Clean-up that may await, which a destructor cannot.
//
// Owner: the loop's thread. with_cleanup(body, cleanup) awaits the body, then, however that ended (a result, an exception or a
// cancellation), what `cleanup()` returns, shielded from every cancellation around it; then it delivers the body's result. If
// the clean-up throws: its exception, together with the body's, if that failed as well, as aggregate_error. In a clean-up that
// may take long, use a deadline. It does not run if the task is destroyed before it has begun, or with its loop: `cleanup` is
// then only destroyed.
//
//   co_await looptask::with_cleanup(use(session), [&]() -> looptask::task<> {
//     co_await looptask::move_on_after(1s, session.say_goodbye());
//   });
#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <looptask/scope.hpp>
#include <looptask/task.hpp>
#include <looptask/task_group.hpp>

namespace looptask {

namespace detail {

// Throws, unless neither failed.
void throw_failures(std::exception_ptr of_body, std::exception_ptr of_cleanup);

}  // namespace detail

// `cleanup` is any callable that returns a task<void>; it is kept as long as this task.
template <class T, std::invocable F>
requires std::is_same_v<std::invoke_result_t<F&>, task<void>> task<T> with_cleanup(task<T> body, F cleanup) {
  outcome<T> how;
  std::exception_ptr cleanup_failed;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(body);
      how.set_value();
    } else if constexpr (std::is_reference_v<T>) {
      how.set_value(std::addressof(co_await std::move(body)));
    } else {
      how.set_value(co_await std::move(body));
    }
  } catch (...) {
    how.set_error(std::current_exception());
  }
  try {
    co_await shield(cleanup());
  } catch (...) {
    cleanup_failed = std::current_exception();
  }
  detail::throw_failures(how.error(), std::move(cleanup_failed));
  if constexpr (!std::is_void_v<T>) co_return std::move(how).get();
}

}  // namespace looptask
