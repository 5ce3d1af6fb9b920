#include "cancellation/kind.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace looptask::tests {
namespace {

using std::chrono::seconds;
using namespace std::chrono_literals;

// ---- time ------------------------------------------------------------------------------------------------------------------

struct sleeps final : trial {
  using trial::trial;
  task<> wait() override { co_await sleep_for(1s); }
  void plan(hook before, hook after) override { around(loop.after(1s), std::move(before), std::move(after)); }
};

struct sleeps_until final : trial {
  using trial::trial;
  monotonic_time until{};
  task<> wait() override { co_await sleep_until(until); }
  void plan(hook before, hook after) override {
    until = loop.after(1s);
    around(until, std::move(before), std::move(after));
  }
};

struct yields final : trial {
  using trial::trial;
  task<> wait() override { co_await yield(); }
  void plan(hook before, hook after) override {  // the task was spawned after this, so it runs between the two
    loop.call_soon([before = std::move(before)] { call(before); });
    loop.post([after = std::move(after)] { call(after); });
  }
};

struct takes_a_token final : trial {
  using trial::trial;
  rate_limiter limiter{loop, 1, 1s, 1};
  std::uint64_t taken = 0;
  task<> wait() override {
    co_await limiter.acquire();
    ++taken;
  }
  void plan(hook before, hook after) override {
    if (limiter.try_acquire()) ++taken;
    around(loop.after(1s), std::move(before), std::move(after));
  }
  bool whole() override { return loop_is_gone || limiter.statistics().acquired == taken; }
};

// ---- synchronisation -------------------------------------------------------------------------------------------------------

struct takes_a_permit final : trial {
  using trial::trial;
  semaphore one{1};
  std::optional<semaphore::permit> held;
  task<> wait() override { const auto permit = co_await one.acquire(); }
  void plan(hook before, hook after) override {
    held = one.try_acquire();
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { held.reset(); }
  bool whole() override { return held.has_value() || one.statistics().available == 1; }
};

struct locks final : trial {
  using trial::trial;
  mutex one;
  std::optional<mutex::guard> held;
  task<> wait() override { const auto guard = co_await one.lock(); }
  void plan(hook before, hook after) override {
    held = one.try_lock();
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { held.reset(); }
  bool whole() override { return held.has_value() || one.try_lock().has_value(); }
};

struct waits_for_event final : trial {
  using trial::trial;
  event one;
  task<> wait() override { co_await one.wait(); }
  void plan(hook before, hook after) override {
    one.clear();
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { one.set(); }
};

struct waits_for_latch final : trial {
  using trial::trial;
  std::optional<latch> one{std::in_place, 1U};
  task<> wait() override { co_await one->wait(); }
  void plan(hook before, hook after) override {
    one.emplace(1U);
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { one->count_down(); }
};

struct waits_for_condition final : trial {
  using trial::trial;
  mutex guarded;
  condition changed;
  task<> wait() override {
    auto held = co_await guarded.lock();
    co_await changed.wait(held);
  }
  void complete() override { changed.notify_one(); }
  bool whole() override { return guarded.try_lock().has_value(); }
};

struct sends final : trial {
  using trial::trial;
  channel<int> one{1};
  std::uint64_t sent = 0;
  task<> wait() override {
    co_await one.send(7);
    ++sent;
  }
  void plan(hook before, hook after) override {
    while (one.try_send(1)) ++sent;
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { one.try_receive(); }
  bool whole() override { return one.statistics().sent == sent; }
};

struct receives final : trial {
  using trial::trial;
  channel<int> one{1};
  std::uint64_t received = 0;
  task<> wait() override {
    const std::optional<int> value = co_await one.receive();
    if (value) ++received;
  }
  void plan(hook before, hook after) override {
    while (one.try_receive()) ++received;
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { one.try_send(1); }
  bool whole() override { return one.statistics().sent == received + one.size(); }
};

// ---- results of others -----------------------------------------------------------------------------------------------------

struct awaits_callback final : trial {
  using trial::trial;
  std::optional<completion<int>> waits;
  task<> wait() override {
    auto begin = [this](completion<int> done) {
      waits.emplace(std::move(done));
      return [this] { return waits.reset(), true; };
    };
    co_await await_callback<int>(begin);
  }
  void complete() override {
    if (waits) waits->set_value(1);
    waits.reset();
  }
};

struct awaits_callback_to_the_end final : trial {
  using trial::trial;
  std::optional<completion<>> waits;
  task<> wait() override {
    auto begin = [this](completion<> done) { waits.emplace(std::move(done)); };
    co_await await_callback<>(begin);
  }
  void complete() override {
    if (waits) waits->set_value();
    waits.reset();
  }
};

struct awaits_future final : trial {
  using trial::trial;
  std::optional<promise<int>> given;
  std::optional<future<int>> awaited;
  task<> wait() override { co_await *awaited; }
  void plan(hook before, hook after) override {
    auto made = make_promise<int>(loop);
    given.emplace(std::move(made.first));
    awaited.emplace(std::move(made.second));
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { given->set_value(1); }
};

struct joins final : trial {
  using trial::trial;
  task_handle<> started;
  task<> wait() override { co_await started.join(); }
  void plan(hook before, hook after) override { started = start_task(loop, ends(loop, std::move(before), std::move(after))); }
  static task<> ends(looptask::loop& l, hook before, hook after) {
    co_await sleep_for(1s);
    call(before);
    l.call_soon([after = std::move(after)] { call(after); });  // after the end of this one, before who joins it goes on
  }
};

struct joins_group final : trial {
  using trial::trial;
  event done;
  task<> wait() override {
    auto body = [this](task_group& group) -> task<> {
      group.start([this]() -> task<> { co_await done.wait(); });
      co_return;
    };
    co_await with_task_group(body);
  }
  void plan(hook before, hook after) override {
    done.clear();
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { done.set(); }
};

struct starts_when_free final : trial {
  using trial::trial;
  event done;
  task<> wait() override {
    auto body = [this](task_group& group) -> task<> {
      group.start([this]() -> task<> { co_await done.wait(); });
      const bool started = co_await group.start_when_free([]() -> task<> { co_return; });
      static_cast<void>(started);
    };
    co_await with_task_group(1, body);
  }
  void plan(hook before, hook after) override {
    done.clear();
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { done.set(); }
};

struct with_an_event : trial {
  using trial::trial;
  event done;
  void plan(hook before, hook after) override {
    done.clear();
    trial::plan(std::move(before), std::move(after));
  }
  void complete() override { done.set(); }
  static task<> until(event& e) { co_await e.wait(); }
  static generator<int> once(event& e) {
    co_await e.wait();
    co_yield 1;
  }
};

struct waits_for_all final : with_an_event {
  using with_an_event::with_an_event;
  task<> wait() override { static_cast<void>(co_await when_all(until(done), until(done))); }
};

// A cancellation is among its outcomes.
struct waits_for_all_settled final : with_an_event {
  using with_an_event::with_an_event;
  task<> wait() override {
    auto [first, second] = co_await when_all_settled(until(done), until(done));
    std::move(first).get();
    std::move(second).get();
  }
};

struct waits_for_any final : with_an_event {
  using with_an_event::with_an_event;
  task<> wait() override { static_cast<void>(co_await when_any(until(done), until(done))); }
};

struct generates final : with_an_event {
  using with_an_event::with_an_event;
  task<> wait() override {
    auto values = once(done);
    static_cast<void>(co_await values.next());
    co_await values.close();
  }
};

struct cleans_up final : with_an_event {
  using with_an_event::with_an_event;
  int begun = 0;
  int cleaned = 0;
  task<> wait() override {
    ++begun;
    auto cleaning = [this]() -> task<> {
      ++cleaned;
      co_return;
    };
    co_await with_cleanup(until(done), cleaning);
  }
  bool whole() override { return loop_is_gone || begun == cleaned; }
};

// ---- workers and files -----------------------------------------------------------------------------------------------------

template <on_cancel how>
struct blocks final : trial {
  using trial::trial;
  hook first;
  hook last;
  task<> wait() override {
    auto work = [&l = loop, before = std::exchange(first, {}), after = std::exchange(last, {})] {
      call(before);
      l.call_soon(
          [after] { call(after); });  // in a simulated world this is the loop's thread, and comes before the end is known
    };
    co_await run_blocking(std::move(work), how);
  }
  void plan(hook before, hook after) override {
    first = std::move(before);
    last = std::move(after);
  }
  bool whole() override { return world.workers().statistics().queued == 0; }
};

enum class use { read_all, write_all, append, open, read, write, size, sync, close };

template <use what>
struct uses_file final : trial {
  using trial::trial;
  std::optional<file> opened;
  task<> wait() override {
    const std::string path = "/tmp/one";
    if constexpr (what == use::read_all) static_cast<void>(co_await read_file(path));
    if constexpr (what == use::write_all) co_await write_file(path, "text");
    if constexpr (what == use::append) co_await append_file(path, "text");
    if constexpr (what == use::open) const file got = co_await open_file(path, file_mode::create);
    if constexpr (what == use::read) static_cast<void>(co_await opened->read_at(0, 4));
    if constexpr (what == use::write) co_await opened->write_at(0, "text");
    if constexpr (what == use::size) static_cast<void>(co_await opened->size());
    if constexpr (what == use::sync) co_await opened->sync();
    if constexpr (what == use::close) co_await opened->close();
  }
  void plan(hook, hook) override {
    world.files().append("/tmp/one", "text");
    if constexpr (what < use::read) return;
    opened.reset();
    loop.run(opens(opened));
  }
  static task<> opens(std::optional<file>& into) { into.emplace(co_await open_file("/tmp/one", file_mode::write)); }
};

// ---- processes -------------------------------------------------------------------------------------------------------------

enum class part { whole, output, exit };

template <part what>
struct runs_process final : trial {
  runs_process(looptask::loop& l, sim::world& w) : trial(l, w) {
    w.program("one", {.takes = what == part::output ? 2s : 1s, .output = {{.after = 1s, .bytes = "text"}}});
  }
  static process_spec spec() { return {.argv = {"one"}, .env = {"PATH=/bin"}, .workdir = "/"}; }
  task<> wait() override {
    if constexpr (what == part::whole) {
      static_cast<void>(co_await run_process(spec()));
    } else {
      auto body = [](process& child) -> task<> {
        if constexpr (what == part::output)
          static_cast<void>(co_await child.read());
        else
          static_cast<void>(co_await child.wait());
      };
      co_await with_process(spec(), body);
    }
  }
  void plan(hook before, hook after) override {  // what is planned for one instant happens in the order planned
    const duration at = world.now() + 1s;
    world.call_at(at, [before = std::move(before)] { call(before); });
    world.call_at(world.now() + 500ms, [this, at, after = std::move(after)] { world.call_at(at, [after] { call(after); }); });
  }
  bool whole() override { return world.alive().empty(); }
};

template <use what>
kind of_file(std::string name, std::vector<std::string> covers) {
  return {std::move(name), std::move(covers), making<uses_file<what>>(), false, true, false, false};
}

}  // namespace

std::vector<kind> kinds() {
  std::vector<kind> all;
  const auto add = [&all](std::string name, std::vector<std::string> covers, auto make) -> kind& {
    return all.emplace_back(kind{std::move(name), std::move(covers), std::move(make)});
  };
  add("sleep_for", {"sleep.hpp sleep_for", "sleep.hpp sleep_await"}, making<sleeps>());
  add("sleep_until", {"sleep.hpp sleep_until"}, making<sleeps_until>());
  add("yield", {"sleep.hpp yield", "sleep.hpp yield_await"}, making<yields>()).waits = false;
  add("rate_limiter_acquire", {"rate_limiter.hpp acquire", "rate_limiter.hpp acquire_await"}, making<takes_a_token>());
  add("semaphore_acquire", {"semaphore.hpp acquire", "semaphore.hpp acquire_await"}, making<takes_a_permit>());
  add("mutex_lock", {"mutex.hpp lock", "mutex.hpp lock_await"}, making<locks>());
  add("event_wait", {"event.hpp wait", "event.hpp wait_await"}, making<waits_for_event>());
  add("latch_wait", {"latch.hpp wait"}, making<waits_for_latch>());
  add("condition_wait", {"condition.hpp wait", "condition.hpp wait_await"}, making<waits_for_condition>());
  add("channel_send", {"channel.hpp send", "channel.hpp send_await"}, making<sends>());
  add("channel_receive", {"channel.hpp receive", "channel.hpp receive_await"}, making<receives>());
  add("await_callback", {"callback.hpp await_callback", "callback.hpp callback_await"}, making<awaits_callback>());
  add("await_callback_without_a_hook", {}, making<awaits_callback_to_the_end>()).taken_back = false;
  add("future", {"future.hpp future_await"}, making<awaits_future>());
  add("task_handle_join", {"task_handle.hpp join", "task_handle.hpp join_await"}, making<joins>());
  add("with_task_group", {"task_group.hpp with_task_group", "task_group.hpp group_join_await"}, making<joins_group>());
  add("start_when_free", {"task_group.hpp start_when_free", "task_group.hpp group_start_await"}, making<starts_when_free>())
      .timed = false;
  add("when_all", {"when_all.hpp when_all", "when_all.hpp all_of", "when_all.hpp keep_value"}, making<waits_for_all>()).timed =
      false;
  add("when_all_settled", {"when_all.hpp when_all_settled", "when_all.hpp settled_of", "when_all.hpp keep_outcome"},
      making<waits_for_all_settled>())
      .timed = false;
  add("when_any", {"when_any.hpp when_any", "when_any.hpp run_in", "when_any.hpp first_of"}, making<waits_for_any>()).timed =
      false;
  add("generator", {"generator.hpp next", "generator.hpp close"}, making<generates>()).timed = false;
  add("with_cleanup", {"cleanup.hpp with_cleanup"}, making<cleans_up>()).timed = false;
  add("run_blocking_wait", {"blocking.hpp run_blocking", "blocking.hpp blocking_await"}, making<blocks<on_cancel::wait>>())
      .taken_back = false;
  add("run_blocking_abandon", {}, making<blocks<on_cancel::abandon>>());
  all.push_back(of_file<use::read_all>("read_file", {"file.hpp read_file"}));
  all.push_back(of_file<use::write_all>("write_file", {"file.hpp write_file"}));
  all.push_back(of_file<use::append>("append_file", {"file.hpp append_file"}));
  all.push_back(of_file<use::open>("open_file", {"file.hpp open_file"}));
  all.push_back(of_file<use::read>("file_read_at", {"file.hpp read_at"}));
  all.push_back(of_file<use::write>("file_write_at", {"file.hpp write_at"}));
  all.push_back(of_file<use::size>("file_size", {"file.hpp size"}));
  all.push_back(of_file<use::sync>("file_sync", {"file.hpp sync"}));
  all.push_back(of_file<use::close>("file_close", {"file.hpp close"}));
  add("run_process", {"process.hpp run_process"}, making<runs_process<part::whole>>()).timed = false;
  add("process_read", {"process.hpp read", "process.hpp moment"}, making<runs_process<part::output>>());
  add("process_wait", {"process.hpp wait", "process.hpp with_process"}, making<runs_process<part::exit>>());
  add_network_kinds(all);
  add_loop_kinds(all);
  return all;
}

}  // namespace looptask::tests
