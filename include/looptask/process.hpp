#pragma once
// Running another program from a task, so that nothing of it is left when the task goes on.
//
// Owner: the loop's thread. with_process() starts the program in its own session, runs the body, and then, however the body
// ended (result, exception, cancellation), kills whatever still lives in that session, or comes from the program at all if the
// spec asks for containment `tree`, and waits until it is gone. So the body waits for the end if it wants one. A program that
// cannot be started is a std::system_error that names the step. Processes that cannot be killed are a std::runtime_error; if
// the body has failed too, both come as an aggregate_error; if it was cancelled, `cancelled` comes and the other goes to
// loop::on_error. Output is bounded: when nobody reads, the program blocks. Name the spec before the await: a temporary in one
// expression with co_await is miscompiled by g++ 12.
//
//   looptask::process_spec spec{.argv = {"sort", "-u", file}, .env = {"PATH=/usr/bin:/bin"}, .workdir = "/"};
//   looptask::process_result r = co_await looptask::with_timeout(5s, looptask::run_process(std::move(spec)));
//   if (r.exit.code == 0) use(r.output);
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <looptask/host.hpp>
#include <looptask/operation.hpp>
#include <looptask/scope.hpp>
#include <looptask/task.hpp>

namespace looptask {

inline constexpr std::size_t default_output_buffer = std::size_t{64} << 10U;  // bytes

class process;
// `body(process&)` returns a task; its result is the result. `output_buffer`: how many bytes of output may wait to be read (one
// more read of the pipe may come on top).
template <class F>
std::invoke_result_t<F&, process&> with_process(process_spec spec, F body, std::size_t output_buffer = default_output_buffer);

class process final : private process_events {
 public:
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  const process_identity& identity() const noexcept { return who_; }
  containment_tier tier() const noexcept { return child_->tier(); }
  void signal(int number) noexcept { child_->signal_group(number); }  // to the program and all of its group
  // What has been written to stdout and stderr since the last read(), in order; waits if there is nothing yet; empty at the
  // end, which comes when everything that holds the output has closed it. One reader at a time.
  task<std::string> read();
  // How the program itself ended; its children may live on, and its output may go on. One at a time.
  task<process_exit> wait();

 private:
  template <class F>
  friend std::invoke_result_t<F&, process&> with_process(process_spec spec, F body, std::size_t output_buffer);

  // Waits until something has come to pass.
  class moment final : public operation {
   public:
    moment(moment*& place, const bool& passed) noexcept : place_(place), passed_(passed) {}
    ~moment() { leave(); }
    bool await_ready() noexcept { return strikes_now() || (passed_ && spend()); }
    void await_resume() { finish(); }
    static void pass(moment*& place) noexcept {
      if (place != nullptr) std::exchange(place, nullptr)->complete();
    }

   private:
    void start() override;
    bool withdraw() noexcept override {
      leave();
      return true;
    }
    void leave() noexcept {
      if (place_ == this) place_ = nullptr;
    }
    moment*& place_;
    const bool& passed_;
  };

  process(loop& where, process_spec spec, std::size_t output_buffer);
  ~process();
  task<> spawned();  // throws if it could not be
  task<> end();      // kills what is left and waits until it is gone
  // What with_process() throws when its body failed with `body` (nullptr: it did not) and what is left cannot be killed.
  std::exception_ptr settle(std::exception_ptr body, std::exception_ptr survivors);

  void on_spawned(const process_identity& who) override;
  void on_spawn_failed(int error, std::string_view what) override;
  void on_output(std::string_view bytes) override;
  void on_output_end() override;
  void on_exit(const process_exit& how) override;

  loop_hold hold_;
  process_identity who_;
  bool answered_ = false;  // spawned, or failed
  int spawn_error_ = 0;
  std::string failed_step_;
  const std::size_t output_buffer_;
  std::string unread_;
  bool readable_ = false;  // something unread, or the end
  bool output_held_ = false;
  bool output_ended_ = false;
  bool exited_ = false;
  bool gone_ = false;  // nothing of it is left
  process_exit exit_;
  moment* spawn_waiter_ = nullptr;
  moment* reader_ = nullptr;
  moment* exit_waiter_ = nullptr;
  std::unique_ptr<child_process> child_;  // the last to come and the first to go: it calls into the rest
};

template <class F>
std::invoke_result_t<F&, process&> with_process(process_spec spec, F body, std::size_t output_buffer) {
  using result = decltype(std::declval<std::invoke_result_t<F&, process&>>().operator co_await().await_resume());
  process child(this_loop(), std::move(spec), output_buffer);
  outcome<result> how;
  try {
    co_await child.spawned();
    if constexpr (std::is_void_v<result>) {
      co_await body(child);
      how.set_value();
    } else {
      auto value = co_await body(child);
      how.set_value(std::move(value));
    }
  } catch (...) {  // cancellation too
    how.set_error(std::current_exception());
  }
  std::exception_ptr survivors;
  try {
    co_await shield(child.end());
  } catch (...) {
    survivors = std::current_exception();
  }
  if (survivors) how.set_error(child.settle(how.ok() ? nullptr : how.error(), std::move(survivors)));
  co_return std::move(how).get();
}

struct process_result {
  process_exit exit;
  std::string output;         // its first bytes, up to the limit
  std::uint64_t dropped = 0;  // bytes after them
};

// Runs it until it has ended and its output is closed. Cancellation kills it and waits until it is gone.
task<process_result> run_process(process_spec spec, std::size_t output_limit = std::size_t{1} << 20U);

}  // namespace looptask
