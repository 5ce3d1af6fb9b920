#include "jobs/output_capture.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace looptask::jobs {

void output_capture::append(std::string_view bytes) {
  const std::size_t to_head = std::min(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);

  const std::size_t to_fill = std::min(bytes.size(), tail_limit_ - ring_.size());
  ring_.append(bytes.substr(0, to_fill));
  bytes.remove_prefix(to_fill);

  // The ring is full now, or nothing is left: each further byte takes the place of the oldest.
  dropped_ += bytes.size();
  if (bytes.size() > tail_limit_) bytes.remove_prefix(bytes.size() - tail_limit_);
  while (!bytes.empty()) {
    const std::size_t run = std::min(bytes.size(), tail_limit_ - oldest_);
    bytes.copy(ring_.data() + oldest_, run);
    oldest_ = (oldest_ + run) % tail_limit_;
    bytes.remove_prefix(run);
  }
}

std::string output_capture::tail() const { return ring_.substr(oldest_) + ring_.substr(0, oldest_); }

output_capture::result output_capture::take() && {
  std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest_), ring_.end());
  oldest_ = 0;
  return {std::move(head_), std::move(ring_), dropped_};
}

}  // namespace looptask::jobs
