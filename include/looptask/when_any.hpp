#pragma once
// Several tasks at the same time, and the result of the first that ends.
//
// Owner: the loop's thread. The tasks begin when the result is awaited. The first that ends decides, by its value or by its
// exception; the others are cancelled, and when the result is there, each of them has ended.
//   - Decided by a value: that is the result, also if a cancellation from outside arrives while the others are awaited; it then
//     strikes at the next await. Values of others are destroyed, their exceptions go to loop::on_error.
//   - Decided by an exception: it is rethrown as it is; with those of others that failed as well, as aggregate_error.
//   - Cancelled from outside before: `cancelled`, unless one still has a value or fails.
// void results are std::monostate; results of one type stand for themselves, different ones are a variant, whose index is that
// of the task.
//
//   auto first = co_await looptask::when_any(ask(mirror_a), ask(mirror_b));        // first.index, first.value
//   auto [index, value] = co_await looptask::when_any(std::move(many));            // std::vector<task<T>>
#include <cstddef>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <looptask/scope.hpp>
#include <looptask/task.hpp>
#include <looptask/task_group.hpp>

namespace looptask {

template <class V>
struct when_any_result {
  template <class... Args>
  explicit when_any_result(std::size_t which, Args&&... args) : index(which), value(std::forward<Args>(args)...) {}
  std::size_t index;  // of the task among the arguments
  V value;
};

namespace detail {

template <class T>
using raced_value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class First, class... Rest>
struct one_of {
  static constexpr bool same = (std::is_same_v<First, Rest> && ...);
  using type = std::conditional_t<same, First, std::variant<First, Rest...>>;
};
template <class... T>
using raced = typename one_of<raced_value<T>...>::type;

template <class V>
class race {
 public:
  // `made_of` makes the value; what that throws is the failure of that task.
  template <class... Args>
  void won(task_group& group, std::size_t index, Args&&... made_of) {
    if (decided_) return;
    first_.emplace(index, std::forward<Args>(made_of)...);
    decided_ = true;
    group.cancel();
  }
  // In a handler: rethrows what is handled, unless there is a result, which it must not replace.
  void lost() {
    if (!first_) {
      decided_ = true;
      throw;
    }
    this_loop().report(std::current_exception());
  }
  bool has_result() const noexcept { return first_.has_value(); }
  when_any_result<V> take() { return std::move(*first_); }

 private:
  std::optional<when_any_result<V>> first_;
  bool decided_ = false;
};

// `place`: what stands before the value in the constructor of V.
template <class V, class T, class... Place>
task<> run_in(race<V>& in, task_group& group, task<T> work, std::size_t index, Place... place) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(work);
      in.won(group, index, place...);
    } else {
      T value = co_await std::move(work);
      in.won(group, index, place..., std::move(value));
    }
  } catch (const cancelled&) {
    throw;
  } catch (...) {
    in.lost();
  }
}

template <class... T>
class racing {
 public:
  using value = raced<T...>;
  explicit racing(task<T>&&... work) noexcept : work_(std::move(work)...) {}
  racing(racing&& other) noexcept : work_(std::move(other.work_)) {}
  void start(race<value>& in, task_group& group) { start(in, group, std::index_sequence_for<T...>()); }

 private:
  template <std::size_t... I>
  void start(race<value>& in, task_group& group, std::index_sequence<I...>) {
    if constexpr (one_of<raced_value<T>...>::same)
      (group.start(run_in(in, group, std::move(std::get<I>(work_)), I)), ...);
    else
      (group.start(run_in(in, group, std::move(std::get<I>(work_)), I, std::in_place_index<I>)), ...);
  }
  std::tuple<task<T>...> work_;
};

template <class T>
class many_racing {
 public:
  using value = raced_value<T>;
  explicit many_racing(std::vector<task<T>>&& work) noexcept : work_(std::move(work)) {}
  many_racing(many_racing&& other) noexcept : work_(std::move(other.work_)) {}
  void start(race<value>& in, task_group& group) {
    for (std::size_t i = 0; i < work_.size(); ++i) group.start(run_in(in, group, std::move(work_[i]), i));
  }

 private:
  std::vector<task<T>> work_;
};

template <class Racing>
task<when_any_result<typename Racing::value>> first_of(Racing work) {
  race<typename Racing::value> in;
  const auto body = [&work, &in](task_group& group) -> task<> {
    work.start(in, group);
    co_return;
  };
  try {
    co_await with_task_group(body);
  } catch (const cancelled&) {
    if (!in.has_result()) throw;  // else it came while the others were awaited
  }
  co_return in.take();
}

}  // namespace detail

template <class First, class... Rest>
requires(!std::is_reference_v<First> &&
         (!std::is_reference_v<Rest> &&
          ...)) task<when_any_result<detail::raced<First, Rest...>>> when_any(task<First> first, task<Rest>... rest) {
  return detail::first_of(detail::racing<First, Rest...>(std::move(first), std::move(rest)...));
}
// Of at least one.
template <class T>
requires(!std::is_reference_v<T>) task<when_any_result<detail::raced_value<T>>> when_any(std::vector<task<T>> work) {
  LOOPTASK_ASSERT(!work.empty(), "when_any of no tasks");
  return detail::first_of(detail::many_racing<T>(std::move(work)));
}

}  // namespace looptask
