#pragma once
// unique_function<R(Args...)>: a move-only callable, small ones stored in place. Callables of up to three words that move
// without throwing allocate nothing. If R is void, what the callable returns is dropped. Calling an empty one is misuse and
// asserts. Not thread-safe; may be moved between threads.
//
//   unique_function<void()> f = [p = std::move(pointer)] { p->work(); };
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <looptask/assert.hpp>

namespace looptask {

template <class Signature>
class unique_function;

template <class R, class... Args>
class unique_function<R(Args...)> {
  static constexpr std::size_t capacity = 3 * sizeof(void*);

  struct operations {
    R (*call)(void* storage, Args&&... args);
    void (*relocate)(void* from, void* to) noexcept;  // moves, then destroys the source
    void (*destroy)(void* storage) noexcept;
  };

  template <class F>
  static constexpr bool fits = sizeof(F) <= capacity && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static F* in_place(void* storage) noexcept {
    return std::launder(static_cast<F*>(storage));
  }
  template <class F>
  static F*& on_heap(void* storage) noexcept {
    return *std::launder(static_cast<F**>(storage));
  }

  template <class F>
  static R call_of(F& callable, Args&&... args) {
    if constexpr (std::is_void_v<R>)
      static_cast<void>(callable(std::forward<Args>(args)...));
    else
      return callable(std::forward<Args>(args)...);
  }

  template <class F>
  static constexpr operations local_operations{
      [](void* s, Args&&... args) -> R { return call_of(*in_place<F>(s), std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept {
        ::new (to) F(std::move(*in_place<F>(from)));
        in_place<F>(from)->~F();
      },
      [](void* s) noexcept { in_place<F>(s)->~F(); }};

  template <class F>
  static constexpr operations heap_operations{
      [](void* s, Args&&... args) -> R { return call_of(*on_heap<F>(s), std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept { ::new (to) F*(on_heap<F>(from)); }, [](void* s) noexcept { delete on_heap<F>(s); }};

 public:
  unique_function() noexcept = default;
  unique_function(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)

  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, unique_function> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
      unique_function(F&& callable) {  // NOLINT(google-explicit-constructor)
    using stored = std::decay_t<F>;
    if constexpr (fits<stored>) {
      ::new (static_cast<void*>(storage_)) stored(std::forward<F>(callable));
      operations_ = &local_operations<stored>;
    } else {
      ::new (static_cast<void*>(storage_)) stored*(new stored(std::forward<F>(callable)));
      operations_ = &heap_operations<stored>;
    }
  }

  unique_function(unique_function&& other) noexcept { take(other); }
  unique_function& operator=(unique_function&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  unique_function(const unique_function&) = delete;
  unique_function& operator=(const unique_function&) = delete;
  ~unique_function() { reset(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }

  R operator()(Args... args) {
    LOOPTASK_ASSERT(operations_ != nullptr, "call of an empty unique_function");
    return operations_->call(storage_, std::forward<Args>(args)...);
  }

  void reset() noexcept {
    if (const operations* const ops = std::exchange(operations_, nullptr)) ops->destroy(storage_);
  }

 private:
  void take(unique_function& other) noexcept {
    if (other.operations_ == nullptr) return;
    other.operations_->relocate(other.storage_, storage_);
    operations_ = std::exchange(other.operations_, nullptr);
  }

  alignas(void*) std::byte storage_[capacity];
  const operations* operations_ = nullptr;
};

}  // namespace looptask
