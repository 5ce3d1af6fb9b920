#pragma once
// The machine-checked form of `looptask next --batch`: one JSON line in, one JSON line out (docs/cron.md). Keeps the zones it
// has met, so that a hundred thousand lines load each of them once. One thread; nothing throws on account of a line.
//
//   batch_answerer batch(known_zones);
//   batch.answer(R"({"id":1,"expr":"0 3 * * *","start":"2026-01-01T00:00:00Z","n":1})")
//     == R"({"id":1,"next":["2026-01-01T03:00:00Z"]})"
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/result.hpp>

#include "schedule/zone.hpp"

namespace looptask::cli {

class batch_answerer {
 public:
  // `known_zones`: names to suggest for a misspelt one; may be empty.
  explicit batch_answerer(std::vector<std::string> known_zones) : known_zones_(std::move(known_zones)) {}

  // Without the end of the line. A line that cannot be answered gives {"id":...,"error":"..."}.
  std::string answer(std::string_view text);

  static constexpr std::int64_t most_fires = 100'000;  // of one line

 private:
  const result<schedule::zone>& zone_of(const std::string& name);

  std::vector<std::string> known_zones_;
  std::map<std::string, result<schedule::zone>, std::less<>> zones_;
};

}  // namespace looptask::cli
