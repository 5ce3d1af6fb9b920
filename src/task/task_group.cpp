#include <looptask/task_group.hpp>

#include "task/cancellation.hpp"

namespace looptask {

namespace {

std::string words_of(const std::vector<std::exception_ptr>& errors) {
  std::string all = std::to_string(errors.size()) + " tasks failed";
  const char* before = ": ";
  for (const std::exception_ptr& error : errors) {
    all += before;
    before = "; ";
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      all += e.what();
    } catch (...) {
      all += "not a std::exception";
    }
  }
  return all;
}

}  // namespace

aggregate_error::aggregate_error(std::vector<std::exception_ptr> errors)
    : errors_(std::move(errors)), what_(words_of(errors_)) {}

namespace detail {

class group_child final : public owning_fiber<void> {
 public:
  group_child(task_group& group, looptask::loop& where, task<void> work) noexcept
      : owning_fiber(where, &group.scope_, std::move(work), later{}), group_(group) {}

  using owning_fiber::begin;

 private:
  void ended() override {
    outcome<void> how = take_result();
    task_group& group = group_;
    delete this;
    --group.running_;
    group.child_ended(std::move(how));
  }
  task_group& group_;
};

}  // namespace detail

task_group::task_group(std::size_t limit) noexcept : scope_(this_loop()), limit_(limit) {
  LOOPTASK_ASSERT(limit > 0, "task group of which no child may run (the limit is at least 1)");
  scope_.attach_to(detail::fiber::current()->scope());
  scope_.of_group_ = true;
}

// Children are left only if the frame of the group is destroyed with its loop.
task_group::~task_group() { scope_.end_fibers(); }

detail::group_child& task_group::make_child(task<void> work, const source_place& by) {
  auto& made = *new detail::group_child(*this, scope_.loop_, std::move(work));
  scope_.fibers_.push_back(made);
  if (detail::debugging()) detail::note_started(made, by);
  return made;
}

void task_group::begin(detail::group_child& child) noexcept {
  ++running_;
  ++started_;
  child.begin();
}

void task_group::start(task<void> child, source_place by) {
  detail::group_child& made = make_child(std::move(child), by);
  if (running_ < limit_) return begin(made);
  queued_.push_back(made);
  ++queued_count_;
  ++queued_ever_;
}

void task_group::fill_places() {
  while (running_ < limit_) {
    detail::group_start_await* const waiter = waiting_.front();
    if (waiter != nullptr && waiter->after_ <= unqueued_ever_) {
      waiter->leave();
      waiter->decide();
      waiter->complete();
      continue;
    }
    auto* const child = static_cast<detail::group_child*>(queued_.pop_front());
    if (child == nullptr) return;
    --queued_count_;
    ++unqueued_ever_;
    if (!scope_.is_cancelled()) {
      begin(*child);
    } else {
      ++refused_;
      gave_way_ = true;
      delete child;
    }
  }
}

void task_group::enter_body(detail::fiber& by) noexcept {
  scope_.runs_in_ = &by;
  by.set_scope(&scope_);
}

void task_group::leave_body() noexcept {
  if (detail::fiber* const by = std::exchange(scope_.runs_in_, nullptr)) by->set_scope(scope_.parent_);
}

void task_group::child_ended(outcome<void> how) {
  if (!how.ok()) failed(how.error());
  fill_places();
  if (running_ == 0 && joining_ != nullptr) std::exchange(joining_, nullptr)->complete();
}

void task_group::failed(std::exception_ptr error) {
  if (scope_.is_cancelled() && detail::is_cancellation(error)) {
    gave_way_ = true;
    return;
  }
  errors_.push_back(std::move(error));
  scope_.cancel();
}

void task_group::throw_what_failed() {
  if (errors_.size() == 1) std::rethrow_exception(std::exchange(errors_[0], nullptr));
  if (errors_.size() > 1) throw aggregate_error(std::move(errors_));
  if (gave_way_ && scope_.parent_ != nullptr && scope_.parent_->is_cancelled()) throw cancelled();
}

detail::group_start_await task_group::start_when_free(task<void> child, source_place by) noexcept {
  return detail::group_start_await(*this, std::move(child), by);
}

namespace detail {

group_start_await::~group_start_await() {
  leave();
  child_.discard();
}

bool group_start_await::await_ready() {
  LOOPTASK_ASSERT(child_, "an empty task was to be started in a task group");
  if (strikes_now()) {
    ++group_.refused_;
    return true;
  }
  if (group_.running_ >= group_.limit_ || !spend()) return false;
  decide();
  return true;
}

void group_start_await::start() {
  if (group_.running_ < group_.limit_) {  // the turn's budget was spent, not the places
    decide();
    return complete();
  }
  after_ = group_.queued_ever_;
  group_.waiting_.push_back(*this);
  ++group_.waiting_count_;
}

void group_start_await::decide() noexcept {
  begun_ = !group_.scope_.is_cancelled();
  if (begun_) {
    group_child& made = group_.make_child(std::move(child_), by_);
    made.inherit(awaited_by());
    group_.begin(made);
  } else {
    ++group_.refused_;
  }
}

void group_start_await::leave() noexcept {
  if (!linked()) return;
  unlink();
  --group_.waiting_count_;
}

bool group_start_await::withdraw() noexcept {
  leave();
  ++group_.refused_;
  return true;
}

}  // namespace detail
}  // namespace looptask
