#include <looptask/cleanup.hpp>

#include <vector>

namespace looptask::detail {

void throw_failures(std::exception_ptr of_body, std::exception_ptr of_cleanup) {
  if (of_body == nullptr && of_cleanup == nullptr) return;
  if (of_cleanup == nullptr) std::rethrow_exception(std::move(of_body));
  if (of_body == nullptr) std::rethrow_exception(std::move(of_cleanup));
  try {
    std::rethrow_exception(of_body);
  } catch (const cancelled&) {  // no failure; it strikes again at the next await
    std::rethrow_exception(std::move(of_cleanup));
  } catch (...) {
    throw aggregate_error({std::move(of_body), std::move(of_cleanup)});
  }
}

}  // namespace looptask::detail
