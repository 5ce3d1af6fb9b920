#include <looptask/run_on.hpp>

namespace looptask::detail {

// The frame that awaits may be destroyed with its loop.
run_on_operation::~run_on_operation() {
  if (errand_->waits == nullptr) return;
  errand_->waits = nullptr;
  cancel_over_there();
}

// If it is refused, the work is destroyed at once and says itself that the other loop is gone.
void run_on_operation::send(unique_function<void(looptask::loop&)> work) {
  errand_->home = where().handle();
  errand_->waits = this;
  hold_ = where().hold();
  where_.post_to(std::move(work));
}

// The task over there is asked to give way; the await ends when it has.
bool run_on_operation::withdraw() noexcept {
  cancel_over_there();
  return false;
}

void run_on_operation::cancel_over_there() noexcept {
  where_.post([of = errand_] {
    of->cancelled = true;
    if (of->scope != nullptr) of->scope->cancel();
  });
}

void way_home_base::tell(std::shared_ptr<errand> of) {
  const loop_handle home = of->home;
  home.post([of = std::move(of)] {
    if (run_on_operation* const waits = std::exchange(of->waits, nullptr)) {
      waits->hold_ = {};
      waits->complete();
    }
  });
}

}  // namespace looptask::detail
