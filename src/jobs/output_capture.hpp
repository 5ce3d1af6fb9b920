#pragma once
// The beginning and the end of an output of any length, in bounded memory: the first half of the limit is the head, the other
// half a ring that holds the last bytes. Owner: one thread.
//
// At any time head() + (dropped() bytes) + tail() is what was appended. Nothing is dropped as long as it all fits. Memory
// grows with the output up to the limit (twice that, at worst, by the growth of strings), never with the output beyond it.
//
//   output_capture kept(256 * 1024);
//   kept.append(bytes);
//   kept.head(), kept.tail(), kept.dropped()
//   std::move(kept).take()  // the same without a copy, once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace looptask::jobs {

class output_capture {
 public:
  explicit output_capture(std::size_t limit) noexcept : head_limit_(limit / 2), tail_limit_(limit - limit / 2) {}

  void append(std::string_view bytes);

  const std::string& head() const noexcept { return head_; }
  std::string tail() const;  // the last bytes, as far as they are not in the head
  std::uint64_t dropped() const noexcept { return dropped_; }
  struct result {
    std::string head, tail;
    std::uint64_t dropped = 0;
  };
  result take() &&;  // in the memory in which it was collected
  std::uint64_t total() const noexcept { return head_.size() + dropped_ + ring_.size(); }

 private:
  std::size_t head_limit_;
  std::size_t tail_limit_;
  std::string head_;
  std::string ring_;  // once it is full, its oldest byte is at oldest_
  std::size_t oldest_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace looptask::jobs
