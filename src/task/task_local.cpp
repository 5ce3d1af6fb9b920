#include <looptask/task_local.hpp>

namespace looptask::detail {
namespace {

binding* share(binding* what) noexcept {
  if (what != nullptr) ++what->uses;
  return what;
}

void drop(binding* what) noexcept {
  while (what != nullptr && --what->uses == 0) {
    binding* const outer = what->outer;
    delete what;
    what = outer;
  }
}

}  // namespace

void fiber::inherit(const fiber& from) noexcept {
  binding* const mine = std::exchange(bindings_, share(from.bindings_));
  drop(mine);
}

void fiber::drop_bindings() noexcept { drop(std::exchange(bindings_, nullptr)); }

void bound::enter(fiber& by) noexcept {
  in_ = &by;
  made_->outer = std::exchange(by.bindings_, made_);  // both uses go along
}

void bound::leave() noexcept {
  binding* const mine = std::exchange(made_, nullptr);
  if (mine == nullptr) return;
  if (in_ != nullptr) in_->bindings_ = share(mine->outer);
  drop(mine);
}

const binding* innermost_binding(const void* key) noexcept {
  const fiber* const now = fiber::current();
  if (now == nullptr) return nullptr;
  const binding* at = now->bindings_;
  while (at != nullptr && at->key != key) at = at->outer;
  return at;
}

}  // namespace looptask::detail
