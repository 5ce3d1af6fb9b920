#pragma once
// Always-on assertion for misuse: prints place, condition and message to stderr, then aborts. Any thread.

namespace looptask {

[[noreturn]] void assertion_failed(const char* file, int line, const char* condition, const char* message) noexcept;

namespace detail {
void assertion_note(void (*more)() noexcept) noexcept;  // has more to say before the abort; nullptr: nobody
}

}  // namespace looptask

#define LOOPTASK_ASSERT(condition, message) \
  ((condition) ? static_cast<void>(0) : ::looptask::assertion_failed(__FILE__, __LINE__, #condition, message))
