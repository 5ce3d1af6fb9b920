#pragma once
// System calls without a C library: a negative result is -errno. Any thread.
//
//   const long got = kernel(__NR_read, fd, buffer, sizeof buffer);
#include <asm/unistd.h>

namespace looptask {

template <class T>
long word(T value) noexcept {
  if constexpr (requires { reinterpret_cast<long>(value); })
    return reinterpret_cast<long>(value);
  else
    return static_cast<long>(value);
}

// Inlined, so that what it makes with a shared memory may go on below the caller's frame.
[[gnu::always_inline]] inline long raw_call(long number, long a, long b, long c, long d, long e, long f) noexcept {
#if defined(__x86_64__)
  long result = number;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long call __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  register long sixth __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(first) : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth) : "memory");
  return first;
#else
#error "no system calls for this processor"
#endif
}

template <class A = int, class B = int, class C = int, class D = int, class E = int, class F = int>
[[gnu::always_inline]] inline long kernel(long number, A a = 0, B b = 0, C c = 0, D d = 0, E e = 0, F f = 0) noexcept {
  return raw_call(number, word(a), word(b), word(c), word(d), word(e), word(f));
}

}  // namespace looptask
