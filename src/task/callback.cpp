#include <looptask/callback.hpp>

namespace looptask::detail {

completion_base::completion_base(callback_base& of) noexcept : of_(&of) { of.completion_ = this; }

void completion_base::take(completion_base& other) noexcept {
  of_ = std::exchange(other.of_, nullptr);
  if (of_ != nullptr) of_->completion_ = this;
}

void completion_base::settle() noexcept { std::exchange(of_, nullptr)->settled(); }

// With its loop, perhaps: whoever holds the completion must hear of it, and must not reach the frame any more.
callback_base::~callback_base() {
  disconnect();
  if (is_waiting() && abort_) static_cast<void>(abort_());
}

void callback_base::set_abort(unique_function<bool()> hook) noexcept {
  abort_ = std::move(hook);
  strike_again();  // what has begun may be what cancelled, before there was a hook
}

void callback_base::disconnect() noexcept {
  if (completion_ != nullptr) std::exchange(completion_, nullptr)->of_ = nullptr;
}

void callback_base::settled() noexcept {
  completion_ = nullptr;
  settled_ = true;
  if (!aborting_ && is_waiting()) complete();  // else withdraw() decides
}

bool callback_base::withdraw() noexcept {
  if (!abort_) return false;
  aborting_ = true;
  const bool called_off = abort_();
  aborting_ = false;
  abort_ = nullptr;
  if (called_off) {
    disconnect();
  } else if (settled_) {
    complete();
  }
  return called_off;
}

}  // namespace looptask::detail
