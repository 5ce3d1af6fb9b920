#include <looptask/loop.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "loop/callback_timer.hpp"
#include "loop/closure.hpp"
#include "loop/mailbox.hpp"
#include "loop/timer_queue.hpp"

namespace looptask {
namespace {

// While work keeps being ready, the system is asked once for so many callbacks, not in each turn,
constexpr std::uint32_t callbacks_per_poll = 64;
// but at the latest when this time has passed since it was asked.
constexpr duration longest_without_poll = std::chrono::microseconds(100);
// Idle work waits at most so many turns for the loop to be idle.
constexpr std::uint32_t turns_before_idle = 64;
// Operations that may complete at once, without waiting, in one turn.
constexpr std::int32_t turn_budget = 256;

[[noreturn]] void print_and_abort(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "looptask: exception that nobody handled (see loop::on_error): %s\n", e.what());
  } catch (...) {
    std::fputs("looptask: exception that nobody handled (see loop::on_error), not a std::exception\n", stderr);
  }
  std::abort();
}

}  // namespace

loop::loop(host& where)
    : host_(where),
      owner_(&detail::this_thread),
      timers_(std::make_unique<timer_queue>(where.clock().monotonic())),
      mailbox_(std::make_shared<mailbox>(*this, where.reactor())) {
  host_.attach(*this);
}

loop::~loop() {
  assert_owner();
  LOOPTASK_ASSERT(!running_, "loop destroyed from inside one of its callbacks");
  closed_ = true;  // from here on whatever is handed to the loop is destroyed
  mailbox_->close();
  while (resident* const r = residents_.pop_back()) r->discard();  // a task may refer to what lies in an older one
  while (runnable* const r = ready_.pop_front()) r->discard();
  while (runnable* const r = idle_.pop_front()) r->discard();
  while (timer* const t = timers_->pop_any()) {
    t->loop_ = nullptr;
    t->on_loop_gone();
  }
  LOOPTASK_ASSERT(holds_ == 0, "loop destroyed before the holds on it");  // those of tasks went with them
  host_.detach();
}

monotonic_time loop::now() const noexcept {
  assert_owner();
  return running_ && !polling_ ? now_ : host_.clock().monotonic();
}

monotonic_time loop::after(duration delay) const noexcept {
  assert_owner();
  const monotonic_time now = host_.clock().monotonic();
  return delay > monotonic_time::max() - now ? monotonic_time::max() : now + delay;
}

// ---- work ------------------------------------------------------------------------------------------------------------------

void loop::call_soon(runnable& work) noexcept {
  assert_owner();
  if (!work.linked()) ready_.push_back(work);  // a loop that is being destroyed discards it
}

void loop::call_soon(unique_function<void()> work) {
  assert_owner();
  if (closed_) return;
  ready_.push_back(*new detail::closure(std::move(work)));
}

void loop::call_idle(unique_function<void()> work) {
  assert_owner();
  if (closed_) return;
  if (idle_.empty()) idle_turns_ = 0;
  idle_.push_back(*new detail::closure(std::move(work)));
}

timer_handle loop::call_at(monotonic_time when, unique_function<void()> work) {
  assert_owner();
  if (closed_) return {};
  auto made = std::make_unique<detail::callback_timer>(*this, std::move(work));
  made->arm(when);
  return timer_handle(*made.release());
}

timer_handle loop::call_later(duration delay, unique_function<void()> work) { return call_at(after(delay), std::move(work)); }

void loop::watch(int fd, readiness wanted, readiness_handler& handler) {
  assert_owner();
  host_.reactor().watch(fd, wanted, handler);
  ++watched_;
}

void loop::rewatch(int fd, readiness wanted) {
  assert_owner();
  host_.reactor().rewatch(fd, wanted);
}

void loop::unwatch(int fd) noexcept {
  assert_owner();
  host_.reactor().unwatch(fd);
  --watched_;
}

void loop::post(unique_function<void()> work) { mailbox_->post(std::move(work)); }
void loop::stop() noexcept { mailbox_->stop(); }

bool loop_handle::post(unique_function<void()> work) const { return mailbox_ != nullptr && mailbox_->post(std::move(work)); }
bool loop_handle::post_to(unique_function<void(loop&)> work) const {
  // Work runs while the loop lives, and the loop keeps its mailbox.
  return post([box = mailbox_.get(), work = std::move(work)]() mutable { work(box->of()); });
}
bool loop_handle::stop() const noexcept { return mailbox_ != nullptr && mailbox_->stop(); }

loop_hold loop::hold() noexcept {
  assert_owner();
  ++holds_;
  return loop_hold(*this);
}

loop_hold::~loop_hold() {
  if (held_ == nullptr) return;
  held_->assert_owner();
  --held_->holds_;
}

void loop::add_resident(resident& what) noexcept {
  assert_owner();
  if (closed_) return what.discard();
  residents_.push_back(what);
}

// ---- errors ----------------------------------------------------------------------------------------------------------------

void loop::on_error(unique_function<void(std::exception_ptr)> handler) {
  assert_owner();
  on_error_ = std::move(handler);
}

void loop::report(std::exception_ptr error) noexcept {
  assert_owner();
  if (!on_error_) print_and_abort(error);
  on_error_(std::move(error));
}

template <class F>
void loop::guarded(F&& call) noexcept {
  try {
    call();
  } catch (...) {
    report(std::current_exception());
  }
}

// ---- the turn: docs/loop.md describes it in this order ---------------------------------------------------------------------

void loop::turn(waiting how, monotonic_time limit) {
  ++counts_.turns;
  budget_ = turn_budget;

  // 1. Ready: what was ready when the turn began, then what had been posted.
  const std::size_t ran = run_ready();

  // 2. Poll: wait for the system if nothing is ready; otherwise look, unless that can wait. Afterwards read the clock.
  const bool busy = work_waits();
  if (busy && how == waiting::as_needed && may_pass_over_poll()) return run_idle(false);
  const bool wants_to = how == waiting::as_needed || (how == waiting::if_nothing_ran && ran == 0);
  const bool called = ask_host(wants_to && !busy && idle_.empty() && alive(), limit);
  now_ = polled_at_ = host_.clock().monotonic();

  // 3. Timers: those that were due when the clock was read.
  const std::size_t fired = run_timers();

  // 4. Idle: if this instant has nothing more to give.
  run_idle(!called && fired == 0 && !work_waits());
}

// What was ready may have computed for any time: only the clock tells.
bool loop::may_pass_over_poll() noexcept {
  if (since_poll_ >= callbacks_per_poll) return false;
  now_ = host_.clock().monotonic();
  return now_ - polled_at_ < longest_without_poll && !timers_->due(now_);
}

std::size_t loop::run_ready() noexcept {
  std::size_t ran = 0;
  batch_.splice_back(ready_);
  letter* const posted = mailbox_->filled() ? mailbox_->take() : nullptr;
  while (runnable* const next = batch_.pop_front()) {
    ++ran;
    guarded([next] { next->run(); });
  }
  if (posted != nullptr) ran += run_posted(posted);
  since_poll_ += static_cast<std::uint32_t>(ran);
  counts_.callbacks += ran;
  return ran;
}

std::size_t loop::run_posted(letter* const first) noexcept {
  std::size_t ran = 0;
  letter* last = first;
  for (letter* next = first; next != nullptr; next = next->following()) {
    ++ran;
    last = next;
    guarded([next] {
      unique_function<void()> work = std::move(next->work);
      work();
    });
  }
  mailbox_->give_back(first, last, ran);
  return ran;
}

// What handlers throw is reported; a failure of the host itself leaves run().
bool loop::ask_host(bool may_wait, monotonic_time limit) {
  since_poll_ = 0;
  ++counts_.polls;
  struct in_poll {
    loop& of;
    const bool asleep;
    ~in_poll() {
      of.polling_ = false;
      if (asleep) of.mailbox_->wake_up();
    }
  } const now_in{*this, may_wait && mailbox_->fall_asleep()};
  polling_ = true;
  try {
    if (!now_in.asleep) return host_.reactor().wait(monotonic_time{});
    const std::optional<monotonic_time> until = wakes_at();
    if (limit == monotonic_time::max()) return host_.reactor().wait(until);
    return host_.reactor().wait(until ? std::min(*until, limit) : limit);
  } catch (const host_failure&) {
    throw;
  } catch (...) {
    report(std::current_exception());
    return true;
  }
}

std::optional<monotonic_time> loop::wakes_at() const noexcept {
  const std::optional<monotonic_time> next = timers_->next();
  if (!next) return next;
  return *next < monotonic_time::max() - slack_ ? *next + slack_ : monotonic_time::max();
}

std::size_t loop::run_timers() noexcept {
  std::size_t fired = 0;
  timers_->collect(now_);
  while (timer* const next = timers_->pop()) {
    ++fired;
    guarded([next] { next->on_timer(); });
  }
  counts_.timers += fired;
  return fired;
}

void loop::run_idle(bool quiet) noexcept {
  if (idle_.empty()) return;
  if (!quiet && ++idle_turns_ < turns_before_idle) return;
  idle_turns_ = 0;
  batch_.splice_back(idle_);  // what is asked for meanwhile waits for the next idle instant
  while (runnable* const next = batch_.pop_front()) {
    ++counts_.callbacks;
    guarded([next] { next->run(); });
  }
}

bool loop::work_waits() const noexcept { return !ready_.empty() || mailbox_->filled(); }

bool loop::alive() const noexcept {
  if (mailbox_->stop_asked() || (goal_ != nullptr && *goal_)) return false;
  return work_waits() || !idle_.empty() || timers_->size() > 0 || watched_ > 0 || holds_ > 0;
}

// ---- running ---------------------------------------------------------------------------------------------------------------

namespace {
class running_mark {
 public:
  explicit running_mark(bool& running) noexcept : running_(&running) { *running_ = true; }
  ~running_mark() { *running_ = false; }

 private:
  bool* running_;
};
}  // namespace

void loop::run() {
  assert_owner();
  LOOPTASK_ASSERT(!running_, "loop run from inside one of its callbacks");
  mailbox_->wake_up();
  now_ = host_.clock().monotonic();
  const running_mark mark(running_);
  const bool stop_before = mailbox_->stop_asked();
  if (stop_before) turn(waiting::if_nothing_ran);
  while (alive()) turn(waiting::as_needed);
  mailbox_->consume_stop();
}

void loop::run_once() { one_turn(waiting::if_nothing_ran); }
void loop::run_once(monotonic_time deadline) { one_turn(waiting::if_nothing_ran, deadline); }
void loop::poll() { one_turn(waiting::never); }

void loop::one_turn(waiting how, monotonic_time limit) {
  assert_owner();
  LOOPTASK_ASSERT(!running_, "loop run from inside one of its callbacks");
  mailbox_->wake_up();  // after next_deadline()
  now_ = host_.clock().monotonic();
  const running_mark mark(running_);
  turn(how, limit);
  mailbox_->consume_stop();
}

int loop::native_fd() const noexcept {
  assert_owner();
  return host_.reactor().native_fd();
}

std::optional<monotonic_time> loop::next_deadline() noexcept {
  assert_owner();
  LOOPTASK_ASSERT(!running_, "next_deadline() from inside a callback of the loop");
  mailbox_->wake_up();  // it may have been asked before
  if (work_waits() || !idle_.empty() || !mailbox_->fall_asleep()) return monotonic_time{};
  return wakes_at();
}

void loop::set_timer_slack(duration slack) noexcept {
  assert_owner();
  LOOPTASK_ASSERT(slack >= duration::zero(), "negative timer slack");
  slack_ = slack;
}

void loop::run_until(const bool& done, unique_function<void()> stopped) {
  assert_owner();
  LOOPTASK_ASSERT(!running_, "loop run from inside one of its callbacks");
  mailbox_->wake_up();
  now_ = host_.clock().monotonic();
  const running_mark mark(running_);
  const loop_hold until_done = hold();
  struct with_goal {
    const bool*& goal;
    ~with_goal() { goal = nullptr; }
  } const reset{goal_};
  goal_ = &done;
  while (!done) {
    if (mailbox_->consume_stop() && stopped) stopped();
    turn(waiting::as_needed);
  }
  mailbox_->consume_stop();
}

loop_statistics loop::statistics() const noexcept {
  assert_owner();
  loop_statistics all = counts_;
  all.armed = timers_->size();
  all.watched = watched_;
  all.holds = holds_;
  return all;
}

}  // namespace looptask
