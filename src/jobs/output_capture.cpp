#include "jobs/output_capture.hpp"

#include <algorithm>

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

}  // namespace looptask::jobs
