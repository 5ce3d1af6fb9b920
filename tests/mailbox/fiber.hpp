#pragma once
// A line of execution that runs when it is resumed and stands still when it yields, on a stack of its own. One that has not
// ended may be abandoned: its stack is used again, nothing is unwound. One thread. Sanitizers are told of each switch.
#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace looptask {

class fiber_of_test {
 public:
  fiber_of_test() : stack_(new char[stack_size]) {}
  fiber_of_test(const fiber_of_test&) = delete;
  fiber_of_test& operator=(const fiber_of_test&) = delete;
  ~fiber_of_test() { forget(); }

  // Abandons what it ran before.
  void begin(std::function<void()> body) {
    forget();
    body_ = std::move(body);
    done_ = false;
    getcontext(&own_);
    own_.uc_stack.ss_sp = stack_.get();
    own_.uc_stack.ss_size = stack_size;
    own_.uc_link = nullptr;
    makecontext(&own_, &enter, 0);
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(stack_.get(), stack_size);
#endif
#if defined(__SANITIZE_THREAD__)
    thread_ = __tsan_create_fiber(0);
#endif
  }
  bool done() const { return done_; }

  void resume() {
    resumed = this;
#if defined(__SANITIZE_THREAD__)
    resumer_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(thread_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    void* mine = nullptr;
    __sanitizer_start_switch_fiber(&mine, stack_.get(), stack_size);
    swapcontext(&caller_, &own_);
    __sanitizer_finish_switch_fiber(mine, nullptr, nullptr);
#else
    swapcontext(&caller_, &own_);
#endif
    resumed = nullptr;
  }

  // Inside of one: back to who resumed it.
  static void yield() { resumed->leave(); }

 private:
  static constexpr std::size_t stack_size = std::size_t{128} << 10U;
  inline static fiber_of_test* resumed = nullptr;

  static void enter() {
    fiber_of_test* const me = resumed;
    me->arrive(nullptr);
    me->body_();
    me->done_ = true;
    me->leave();
  }
  void arrive([[maybe_unused]] void* fake_stack) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack, &caller_stack_, &caller_size_);
#endif
  }
  void leave() {
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(resumer_, 0);
#endif
    void* mine = nullptr;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&mine, caller_stack_, caller_size_);
#endif
    swapcontext(&own_, &caller_);
    arrive(mine);
  }
  void forget() {
#if defined(__SANITIZE_THREAD__)
    if (thread_ != nullptr) __tsan_destroy_fiber(thread_);
    thread_ = nullptr;
#endif
  }

  std::unique_ptr<char[]> stack_;
  std::function<void()> body_;
  bool done_ = true;
  ucontext_t own_{};
  ucontext_t caller_{};
#if defined(__SANITIZE_ADDRESS__)
  const void* caller_stack_ = nullptr;
  std::size_t caller_size_ = 0;
#endif
#if defined(__SANITIZE_THREAD__)
  void* thread_ = nullptr;
  void* resumer_ = nullptr;
#endif
};

}  // namespace looptask
