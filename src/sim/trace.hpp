#pragma once
// What happened in a simulated world, as a hash over every event, and as text when asked for. Two runs of one seed have the
// same hash; where they differ, the first differing line of the text tells why.
//
// Owner: the thread of the world.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/time.hpp>

namespace looptask::sim {

class trace {
 public:
  void record(duration at, std::string_view what, std::int64_t number = 0, std::string_view text = {});
  void keep_lines(bool keep) noexcept { keep_ = keep; }  // off at first: a long simulation has many
  std::uint64_t hash() const noexcept { return hash_; }
  const std::vector<std::string>& lines() const noexcept { return lines_; }

 private:
  void mix(std::string_view bytes) noexcept;
  void mix(std::int64_t number) noexcept;

  std::uint64_t hash_ = 0xcbf29ce484222325U;  // FNV-1a, 64 bits
  bool keep_ = false;
  std::vector<std::string> lines_;
};

}  // namespace looptask::sim
