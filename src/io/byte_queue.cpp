#include <looptask/byte_queue.hpp>

#include <algorithm>
#include <cstring>

#include <looptask/assert.hpp>

namespace looptask {

std::span<char> byte_queue::room(std::size_t least) {
  if (bytes_.size() - end_ < least && begin_ >= size()) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() - end_ < least) bytes_.resize(std::max(2 * bytes_.size(), end_ + least));
  return {bytes_.data() + end_, bytes_.size() - end_};
}

void byte_queue::commit(std::size_t filled) noexcept {
  LOOPTASK_ASSERT(filled <= bytes_.size() - end_, "more bytes than there was room for");
  end_ += filled;
}

void byte_queue::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(room(bytes.size()).data(), bytes.data(), bytes.size());
  commit(bytes.size());
}

void byte_queue::consume(std::size_t count) noexcept {
  LOOPTASK_ASSERT(count <= size(), "more bytes consumed than there are");
  begin_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

std::string byte_queue::take(std::size_t count) {
  std::string taken(view().substr(0, count));
  consume(taken.size());
  return taken;
}

}  // namespace looptask
