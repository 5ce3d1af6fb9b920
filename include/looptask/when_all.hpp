#pragma once
// Several tasks at the same time, and all of their results.
//
// Owner: the loop's thread. The tasks begin when the result is awaited; when it is there, each of them has ended. when_all
// fails fast: the first failure cancels the others, and when all have ended one failure is rethrown as it is, several as
// aggregate_error. A cancellation from outside reaches all of them; `cancelled` comes out only if one gave way and none failed.
// when_all_settled lets none hurt another and returns how each one ended; after a cancellation from outside too, where those
// that gave way have `cancelled` as their error: what the others have done is not lost, and the next await strikes.
// void results are std::monostate. For many tasks of which few may run at once, a task_group and a semaphore.
//
//   auto [user, orders] = co_await looptask::when_all(find_user(id), find_orders(id));
//   std::vector<page> pages = co_await looptask::when_all(std::move(fetches));           // std::vector<task<page>>
//   for (looptask::outcome<page>& o : co_await looptask::when_all_settled(std::move(more))) if (o.ok())
//   show(std::move(o).get());
#include <cstddef>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <looptask/task.hpp>
#include <looptask/task_group.hpp>

namespace looptask {

namespace detail {

template <class T>
using value_of = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
value_of<T> value_from(outcome<T>& how) {
  if constexpr (std::is_void_v<T>) {
    std::move(how).get();
    return {};
  } else {
    return std::move(how).get();
  }
}

template <class T>
task<> keep_value(task<T> work, outcome<T>& in) {
  if constexpr (std::is_void_v<T>) {
    co_await std::move(work);
    in.set_value();
  } else if constexpr (std::is_reference_v<T>) {
    in.set_value(std::addressof(co_await std::move(work)));
  } else {
    in.set_value(co_await std::move(work));
  }
}
template <class T>
task<> keep_outcome(task<T> work, outcome<T>& in) {
  try {
    co_await keep_value(std::move(work), in);
  } catch (...) {
    in.set_error(std::current_exception());
  }
}

template <class... T>
class several {
 public:
  using values = std::tuple<value_of<T>...>;
  using outcomes = std::tuple<outcome<T>...>;

  explicit several(task<T>&&... work) noexcept : work_(std::move(work)...) {}
  several(several&& other) noexcept : work_(std::move(other.work_)) {}  // before they have begun

  void start_failing_fast(task_group& group) {
    std::apply(
        [&](task<T>&... work) {
          std::apply([&](auto&... in) { (group.start(keep_value(std::move(work), in)), ...); }, results_);
        },
        work_);
  }
  void start_settling(task_group& group) {
    std::apply(
        [&](task<T>&... work) {
          std::apply([&](auto&... in) { (group.start(keep_outcome(std::move(work), in)), ...); }, results_);
        },
        work_);
  }
  values take_values() {
    return std::apply([](auto&... of) { return values(value_from(of)...); }, results_);
  }
  outcomes take_outcomes() { return std::move(results_); }

 private:
  std::tuple<task<T>...> work_;
  outcomes results_;
};

template <class T>
class many {
 public:
  static_assert(!std::is_reference_v<T>, "a vector of results that are references");
  using values = std::vector<value_of<T>>;
  using outcomes = std::vector<outcome<T>>;

  explicit many(std::vector<task<T>>&& work) noexcept : work_(std::move(work)) {}
  many(many&& other) noexcept : work_(std::move(other.work_)) {}

  void start_failing_fast(task_group& group) {
    results_ = outcomes(work_.size());
    for (std::size_t i = 0; i < work_.size(); ++i) group.start(keep_value(std::move(work_[i]), results_[i]));
  }
  void start_settling(task_group& group) {
    results_ = outcomes(work_.size());
    for (std::size_t i = 0; i < work_.size(); ++i) group.start(keep_outcome(std::move(work_[i]), results_[i]));
  }
  values take_values() {
    values all;
    all.reserve(results_.size());
    for (outcome<T>& of : results_) all.push_back(value_from(of));
    return all;
  }
  outcomes take_outcomes() { return std::move(results_); }

 private:
  std::vector<task<T>> work_;
  outcomes results_;
};

template <class Several>
task<typename Several::values> all_of(Several work) {
  const auto body = [&work](task_group& group) -> task<> {
    work.start_failing_fast(group);
    co_return;
  };
  co_await with_task_group(body);
  co_return work.take_values();
}

template <class Several>
task<typename Several::outcomes> settled_of(Several work) {
  const auto body = [&work](task_group& group) -> task<> {
    work.start_settling(group);
    co_return;
  };
  co_await with_task_group(body);
  co_return work.take_outcomes();
}

}  // namespace detail

// In order of the arguments, whatever the order in which they end.
template <class... T>
task<std::tuple<detail::value_of<T>...>> when_all(task<T>... work) {
  return detail::all_of(detail::several<T...>(std::move(work)...));
}
template <class T>
task<std::vector<detail::value_of<T>>> when_all(std::vector<task<T>> work) {
  return detail::all_of(detail::many<T>(std::move(work)));
}

template <class... T>
task<std::tuple<outcome<T>...>> when_all_settled(task<T>... work) {
  return detail::settled_of(detail::several<T...>(std::move(work)...));
}
template <class T>
task<std::vector<outcome<T>>> when_all_settled(std::vector<task<T>> work) {
  return detail::settled_of(detail::many<T>(std::move(work)));
}

}  // namespace looptask
