#pragma once
// Running something on another loop, on that loop's thread, and awaiting it here.
//
// Owner: the loop of the task that awaits. `make()` is moved to the other loop, called there, and the task it makes runs there;
// its result or exception comes back. Both travel by post: they must be movable, and neither is ever on two threads at once.
// Cancelling the await cancels the task over there and waits for its end; a result that it has by then is delivered. If the
// other loop is gone, or goes while the task runs, the await throws loop_gone. If this loop goes, the task is cancelled and
// what it still gives is destroyed over there.
//
//   looptask::loop_handle workers_loop = ...;                      // from loop::handle(), on its thread
//   int n = co_await looptask::run_on(workers_loop, [key]() -> looptask::task<int> { return look_up(key); });
#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <looptask/loop.hpp>
#include <looptask/operation.hpp>
#include <looptask/scope.hpp>
#include <looptask/task.hpp>

namespace looptask {

class loop_gone : public std::runtime_error {
 public:
  loop_gone() : std::runtime_error("the other loop is gone") {}
};

namespace detail {

class run_on_operation;

// Between the two loops. `waits` belongs to the thread that awaits, `scope` and `cancelled` to the other one, which hands the
// result over by a post.
struct errand {
  loop_handle home;
  run_on_operation* waits = nullptr;
  cancel_scope* scope = nullptr;
  bool cancelled = false;
};
template <class T>
struct errand_for : errand {
  outcome<T> result;
};

// What does not depend on the result.
class run_on_operation : public operation {
 public:
  bool await_ready() noexcept { return strikes_now(); }

 protected:
  run_on_operation(loop_handle where, std::shared_ptr<errand> what) noexcept
      : where_(std::move(where)), errand_(std::move(what)) {}
  ~run_on_operation();
  void send(unique_function<void(looptask::loop&)> work);

 private:
  friend class way_home_base;
  bool withdraw() noexcept override;
  void cancel_over_there() noexcept;
  loop_handle where_;
  std::shared_ptr<errand> errand_;
  loop_hold hold_;  // what is awaited comes from another thread: run() waits for it
};

class way_home_base {
 protected:
  static void tell(std::shared_ptr<errand> of);
};

// Says at home that the result is there; or, when it is destroyed before there is one, that the loop it was on is gone.
template <class T>
class way_home : way_home_base {
 public:
  explicit way_home(std::shared_ptr<errand_for<T>> of) noexcept : errand_(std::move(of)) {}
  way_home(way_home&& other) noexcept = default;
  way_home& operator=(way_home&&) = delete;
  ~way_home() {
    if (!errand_) return;
    errand_->result.set_error(std::make_exception_ptr(loop_gone()));
    arrive();
  }
  void arrive() { tell(std::exchange(errand_, nullptr)); }
  errand_for<T>& of() const noexcept { return *errand_; }

 private:
  std::shared_ptr<errand_for<T>> errand_;
};

// The task's own scope over there, which the other thread cancels by post.
class errand_scope {
 public:
  explicit errand_scope(errand& of) : of_(of), scope_(this_loop()) {
    of_.scope = &scope_;
    if (of_.cancelled) scope_.cancel();
  }
  errand_scope(const errand_scope&) = delete;
  errand_scope& operator=(const errand_scope&) = delete;
  ~errand_scope() { of_.scope = nullptr; }
  cancel_scope& get() noexcept { return scope_; }

 private:
  errand& of_;
  cancel_scope scope_;
};

template <class T>
struct result_of_task;
template <class T>
struct result_of_task<task<T>> {
  using type = T;
};

template <class T, task_function F>
class run_on_await final : public run_on_operation {
 public:
  run_on_await(loop_handle where, F make)
      : run_on_await(std::move(where), std::move(make), std::make_shared<errand_for<T>>()) {}
  ~run_on_await() = default;
  T await_resume() {
    finish();
    return std::move(errand_->result).get();
  }

 private:
  run_on_await(loop_handle where, F make, std::shared_ptr<errand_for<T>> what)
      : run_on_operation(std::move(where), what), errand_(std::move(what)), make_(std::move(make)) {}

  static task<void> over_there(way_home<T> home, F make) {
    outcome<T>& result = home.of().result;
    try {
      errand_scope scope(home.of());
      task<T> work = make();
      auto value = co_await scope.get().run(std::move(work));
      if (!value) throw cancelled();
      if constexpr (std::is_void_v<T>)
        result.set_value();
      else
        result.set_value(std::move(*value));
    } catch (...) {
      result.set_error(std::current_exception());
    }
    home.arrive();
  }

  void start() override {
    send([home = way_home<T>(errand_), make = std::move(make_)](looptask::loop& there) mutable {
      spawn(there, over_there(std::move(home), std::move(make)));
    });
  }

  std::shared_ptr<errand_for<T>> errand_;
  F make_;
};

}  // namespace detail

// One await for each call. `make` is called once, over there; its captures must be safe to use and to destroy on that thread.
template <detail::task_function F>
auto run_on(loop_handle where, F make) {
  return detail::run_on_await<typename detail::result_of_task<std::invoke_result_t<F&>>::type, F>(std::move(where),
                                                                                                  std::move(make));
}

}  // namespace looptask
