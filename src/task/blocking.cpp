#include <looptask/blocking.hpp>

namespace looptask::detail {

void blocking_call::ended() noexcept {
  if (awaited_by_ == nullptr) return;
  blocking_base& waits = *awaited_by_;
  waits.let_go();
  waits.complete();
}

// With its loop, perhaps: the call may refer to what lies in the frame.
blocking_base::~blocking_base() {
  if (!is_waiting()) return;
  worker_port& workers = where().where().workers();
  if (!workers.withdraw(*call_) && !(abandons_ && workers.abandon(*call_))) workers.join(*call_);
  let_go();
}

void blocking_base::start() {
  call_->awaited_by_ = this;
  hold_ = where().hold();
  try {
    where().where().workers().submit(call_);
  } catch (...) {
    refused_ = std::current_exception();
    let_go();
    complete();
  }
}

bool blocking_base::withdraw() noexcept {
  worker_port& workers = where().where().workers();
  if (!workers.withdraw(*call_) && !(abandons_ && workers.abandon(*call_))) return false;
  let_go();
  return true;
}

void blocking_base::let_go() noexcept {
  call_->awaited_by_ = nullptr;
  hold_ = {};
}

blocking_call& blocking_base::finished() {
  finish();
  if (refused_) std::rethrow_exception(refused_);
  return *call_;
}

}  // namespace looptask::detail
