#pragma once
// Telling a cancellation from an error, for what gathers how tasks ended.
#include <exception>

namespace looptask::detail {

bool is_cancellation(const std::exception_ptr& error) noexcept;  // nullptr is none

}  // namespace looptask::detail
