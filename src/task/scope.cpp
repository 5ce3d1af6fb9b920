#include <looptask/scope.hpp>

namespace looptask {

cancel_scope::cancel_scope(loop& where, shielding shield) noexcept
    : loop_(where), shielded_(shield == shielding::shielded), deadline_(where, *this) {}

cancel_scope::~cancel_scope() {
  if (detail::debugging()) {
    for (detail::fiber* f = fibers_.front(); f != nullptr; f = fibers_.next(*f)) detail::report_in_scope(*f);
    if (runs_in_ != nullptr) detail::report_in_scope(*runs_in_);
  }
  LOOPTASK_ASSERT(fibers_.empty() && children_.empty() && runs_in_ == nullptr, "cancel_scope destroyed while it is in use");
}

void cancel_scope::cancel_at(monotonic_time deadline) {
  if (!cancelled_) deadline_.arm(deadline);
}

void cancel_scope::attach_to(cancel_scope* parent) noexcept {
  parent_ = parent;
  if (parent_ != nullptr) parent_->children_.push_back(*this);
  effective = cancelled_ || (parent_ != nullptr && !shielded_ && parent_->effective);
}

void cancel_scope::enter(detail::fiber& by) noexcept {
  LOOPTASK_ASSERT(runs_in_ == nullptr && fibers_.empty() && !of_group_, "cancel_scope::run in a scope that is in use");
  runs_in_ = &by;
  attach_to(by.scope());
  by.set_scope(this);
}

void cancel_scope::leave() noexcept {
  runs_in_->set_scope(parent_);
  runs_in_ = nullptr;
  list_node<detail::scope_tag>::unlink();
  parent_ = nullptr;
  effective = cancelled_;
}

void cancel_scope::cancel() noexcept {
  loop_.assert_owner();
  deadline_.cancel();
  if (cancelled_) return;
  cancelled_ = true;
  if (!effective) strike();
}

// Depth first, without recursion. nullptr after the last scope below `root`.
cancel_scope* cancel_scope::next_in_tree(const cancel_scope& root, bool skip_children) noexcept {
  if (!skip_children) {
    if (cancel_scope* const child = children_.front()) return child;
  }
  for (cancel_scope* at = this; at != &root; at = at->parent_) {
    if (cancel_scope* const sibling = at->parent_->children_.next(*at)) return sibling;
  }
  return nullptr;
}

// First all flags, then the operations: taking one back may run code of its owner, and that must find the tree consistent.
void cancel_scope::strike() noexcept {
  list<cancel_scope, detail::struck_tag> struck;
  for (cancel_scope* at = this; at != nullptr;) {
    const bool keeps_out = at->effective || (at != this && at->shielded_);
    if (!keeps_out) {
      at->effective = true;
      struck.push_back(*at);
    }
    at = at->next_in_tree(*this, keeps_out);
  }
  while (cancel_scope* const at = struck.pop_front()) {
    if (at->runs_in_ != nullptr) at->runs_in_->strike();
    for (detail::fiber* f = at->fibers_.front(); f != nullptr; f = at->fibers_.next(*f)) f->strike();
  }
}

void cancel_scope::end_fibers() noexcept {
  while (detail::fiber* const f = fibers_.pop_front()) static_cast<runnable*>(f)->discard();
}

namespace detail {

void adopt(cancel_scope& scope, fiber& what) noexcept {
  LOOPTASK_ASSERT(scope.runs_in_ == nullptr && !scope.of_group_,
                  "task spawned in a scope that a task runs in (start it in a task_group there)");
  scope.fibers_.push_back(what);
  if (!scope.anchor_.list_node<resident_tag>::linked()) scope.loop_.add_resident(scope.anchor_);
}

main_scope::main_scope(loop& where) : loop_(where), scope_(std::make_unique<cancel_scope>(where)) {}
main_scope::~main_scope() { scope_->end_fibers(); }

void main_scope::run_until(const bool& done) {
  loop_.run_until(done, [this] { scope_->cancel(); });
}

}  // namespace detail
}  // namespace looptask
