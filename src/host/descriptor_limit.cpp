#include "host/descriptor_limit.hpp"

#include <algorithm>
#include <atomic>

namespace looptask {
namespace {

constexpr rlim64_t enough = 65'536;

struct change {
  rlim64_t before;
  rlim64_t raised;
};
// There is one limit for the whole process, whatever the number of its hosts. The one object is made by the first change
// and stays.
std::atomic<const change*> made = nullptr;

}  // namespace

void raise_descriptor_limit() noexcept {
  rlimit64 limit{};
  if (::getrlimit64(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim64_t raised = std::min(limit.rlim_max, enough);
  if (limit.rlim_cur >= raised) return;
  static const change first{limit.rlim_cur, raised};
  limit.rlim_cur = raised;
  if (::setrlimit64(RLIMIT_NOFILE, &limit) == 0) made = &first;
}

std::optional<rlimit64> descriptor_limit_of_children() noexcept {
  const change* const how = made;
  rlimit64 limit{};
  if (how == nullptr || ::getrlimit64(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur != how->raised) return std::nullopt;
  limit.rlim_cur = how->before;
  return limit;
}

}  // namespace looptask
