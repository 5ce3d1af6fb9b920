#include "task/cancellation.hpp"

#include <looptask/operation.hpp>

namespace looptask::detail {

bool is_cancellation(const std::exception_ptr& error) noexcept {
  if (error == nullptr) return false;
  try {
    std::rethrow_exception(error);
  } catch (const cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace looptask::detail
