#include <gtest/gtest.h>

#include <algorithm>
#include <semaphore>
#include <string>
#include <vector>

#include "service/log_sink.hpp"

namespace looptask::service {
namespace {

constexpr instant noon{std::chrono::hours(12)};

std::string lost(instant when, std::uint64_t n) {
  EXPECT_EQ(when, noon);
  return "lost " + std::to_string(n) + "\n";
}

TEST(async_log, hands_on_every_line_in_order_before_it_ends) {
  std::vector<std::string> lines;
  {
    const auto log = make_async_log(
        [&](std::string_view line) {
          lines.emplace_back(line);
          return line.size();
        },
        1000, lost);
    for (int i = 0; i < 500; ++i) log->write(noon, std::to_string(i) + "\n");
    EXPECT_EQ(log->dropped(), 0U);
  }
  ASSERT_EQ(lines.size(), 500U);
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], std::to_string(i) + "\n");
}

TEST(async_log, drops_the_oldest_lines_of_a_reader_that_stands_still_and_says_how_many) {
  std::vector<std::string> lines;
  std::binary_semaphore go(0), reached(0);
  bool first = true;
  {
    const auto log = make_async_log(
        [&](std::string_view line) {
          if (std::exchange(first, false)) {
            reached.release();
            go.acquire();
          }
          lines.emplace_back(line);
          return line.size();
        },
        4, lost);
    log->write(noon, "held\n");
    reached.acquire();
    for (int i = 0; i < 10; ++i) log->write(noon, std::to_string(i) + "\n");
    EXPECT_EQ(log->dropped(), 6U);
    go.release();
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"held\n", "lost 6\n", "6\n", "7\n", "8\n", "9\n"}));
}

TEST(async_log, what_could_not_be_written_is_counted_and_never_glued_to_the_next_line) {
  std::string disk;
  std::size_t room = 0;
  std::binary_semaphore out(0);
  const auto log = make_async_log(
      [&](std::string_view line) {
        const std::size_t taken = std::min(room, line.size());
        disk += line.substr(0, taken);
        room -= taken;
        return taken;
      },
      1000, lost);
  const auto write = [&](std::size_t new_room, const char* line) {
    room = new_room;
    log->write(noon, line);
    log->when_out([&] { out.release(); });
    out.acquire();
  };
  write(100, "first\n");
  write(3, "second\n");  // the disk is full in the middle of it
  EXPECT_EQ(log->dropped(), 1U);
  write(0, "third\n");
  EXPECT_EQ(log->dropped(), 2U);
  write(100, "fourth\n");
  write(100, "fifth\n");
  EXPECT_EQ(log->dropped(), 2U);
  EXPECT_EQ(disk, "first\nsec\nlost 2\nfourth\nfifth\n");
}

}  // namespace
}  // namespace looptask::service
