#include <looptask/reader.hpp>

#include <algorithm>

namespace looptask {
namespace {

constexpr std::size_t least_read = 4096;  // bytes

std::string of(const detail::duplex& from) { return " from " + from.peer().text(); }

}  // namespace

task<std::size_t> reader::read_some(std::span<char> to) {
  LOOPTASK_ASSERT(!to.empty(), "read into an empty span, which could not be told from the end");
  if (buffer_.empty()) co_return co_await detail::read_await(from_, to);
  co_await detail::checkpoint();
  const std::string_view here = buffer_.view().substr(0, to.size());
  std::copy(here.begin(), here.end(), to.begin());
  const std::size_t count = here.size();
  buffer_.consume(count);
  co_return count;
}

task<std::string> reader::read_exactly(std::size_t count) {
  co_await detail::checkpoint();
  while (buffer_.size() < count) {
    const std::size_t got = co_await detail::read_await(from_, buffer_.room(least_read));
    buffer_.commit(got);
    if (got != 0) continue;
    const std::string have = std::to_string(buffer_.size()) + " of " + std::to_string(count) + " bytes" + of(from_);
    throw incomplete_read("the end after " + have, buffer_.take(buffer_.size()));
  }
  co_return buffer_.take(count);
}

// Only what has come since it looked last, and the bytes before that may begin a delimiter, are looked at again.
task<reader::found> reader::search(std::string_view delimiter, std::size_t limit) {
  LOOPTASK_ASSERT(!delimiter.empty(), "read up to an empty delimiter");
  co_await detail::checkpoint();
  std::size_t looked = 0;
  while (true) {
    const std::size_t at = buffer_.view().substr(0, limit).find(delimiter, looked);
    if (at != std::string_view::npos) co_return found{at + delimiter.size()};
    if (buffer_.size() >= limit) {
      throw limit_exceeded("no end of a record among the first " + std::to_string(limit) + " bytes" + of(from_));
    }
    looked = buffer_.size() - std::min(buffer_.size(), delimiter.size() - 1);
    const std::size_t got = co_await detail::read_await(from_, buffer_.room(least_read));
    buffer_.commit(got);
    if (got == 0) co_return found{0};
  }
}

task<std::string> reader::read_until(std::string delimiter, std::size_t limit) {
  const found record = co_await search(delimiter, limit);
  if (record.size != 0) co_return buffer_.take(record.size);
  const std::string have = std::to_string(buffer_.size()) + " bytes and no delimiter" + of(from_);
  throw incomplete_read("the end after " + have, buffer_.take(buffer_.size()));
}

task<std::optional<std::string>> reader::read_line(std::size_t limit) {
  const found record = co_await search("\n", limit);
  if (record.size == 0 && buffer_.empty()) co_return std::nullopt;
  std::string line = buffer_.take(record.size != 0 ? record.size : buffer_.size());
  if (line.ends_with('\n')) {
    line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
  }
  co_return line;
}

task<bool> reader::at_end() {
  co_await detail::checkpoint();
  if (!buffer_.empty()) co_return false;
  const std::size_t got = co_await detail::read_await(from_, buffer_.room(least_read));
  buffer_.commit(got);
  co_return got == 0;
}

}  // namespace looptask
