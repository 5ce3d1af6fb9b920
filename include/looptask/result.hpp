#pragma once
// result<T>: a value, or one error message for the person who typed the input. For parsers and configuration; operations of
// the running process throw instead. Thread-safe as its value is.
#include <string>
#include <utility>
#include <variant>

#include <looptask/assert.hpp>

namespace looptask {

struct error {
  std::string message;  // one line: what, where, what would be right
};

template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT(google-explicit-constructor)
  result(looptask::error why) : state_(std::in_place_index<1>, std::move(why)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const noexcept { return state_.index() == 0; }
  // Asking for the value of an error, or the error of a value, is misuse and asserts.
  T& value() & { return check(0), *std::get_if<0>(&state_); }
  const T& value() const& { return check(0), *std::get_if<0>(&state_); }
  T&& value() && { return check(0), std::move(*std::get_if<0>(&state_)); }
  const std::string& message() const { return check(1), std::get_if<1>(&state_)->message; }

 private:
  void check(std::size_t index) const { LOOPTASK_ASSERT(state_.index() == index, "result: value and error mixed up"); }
  std::variant<T, looptask::error> state_;
};

}  // namespace looptask
