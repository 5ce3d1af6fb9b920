#include <looptask/task_group.hpp>

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

bool is_cancellation(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

aggregate_error::aggregate_error(std::vector<std::exception_ptr> errors)
    : errors_(std::move(errors)), what_(words_of(errors_)) {}

namespace detail {

class group_child final : public owning_fiber<void> {
 public:
  group_child(task_group& group, looptask::loop& where, task<void> work) noexcept
      : owning_fiber(where, &group.scope_, std::move(work)), group_(group) {}

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

task_group::task_group() noexcept : scope_(this_loop()) {
  scope_.attach_to(detail::fiber::current()->scope());
  scope_.of_group_ = true;
}

// Children are left only if the frame of the group is destroyed with its loop.
task_group::~task_group() { scope_.end_fibers(); }

void task_group::start(task<void> child) {
  scope_.fibers_.push_back(*new detail::group_child(*this, scope_.loop_, std::move(child)));
  ++running_;
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
  if (running_ == 0 && joining_ != nullptr) std::exchange(joining_, nullptr)->complete();
}

void task_group::failed(std::exception_ptr error) {
  if (scope_.is_cancelled() && is_cancellation(error)) {
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

}  // namespace looptask
