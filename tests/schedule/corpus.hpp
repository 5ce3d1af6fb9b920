#pragma once
// The lines of tests/corpus/cron, read once for each test that walks over them.
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schedule/cron.hpp"
#include "schedule/instant_text.hpp"
#include "source_tree.hpp"

namespace looptask::schedule {

inline std::vector<nlohmann::json> cron_corpus(const std::string& file) {
  std::ifstream in(tests::source_dir() + "/tests/corpus/cron/" + file);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

inline instant at(std::string_view text) { return parse_instant(text).value(); }

inline cron_expression cron(std::string_view text) {
  auto parsed = cron_expression::parse(text);
  EXPECT_TRUE(static_cast<bool>(parsed)) << text << ": " << (parsed ? "" : parsed.message());
  return std::move(parsed).value();
}

inline zone zone_named(const std::string& name) {
  auto loaded = zone::load(name);
  EXPECT_TRUE(static_cast<bool>(loaded)) << (loaded ? "" : loaded.message());
  return std::move(loaded).value();
}

// The next `count` fire times, as text; fewer where the expression ends.
inline std::vector<std::string> fires(const cron_expression& expression, const zone& where, instant from, std::size_t count) {
  std::vector<std::string> found;
  for (auto next = expression.next(from, where); next && found.size() < count; next = expression.next(*next, where)) {
    found.push_back(instant_text(*next, fraction::milliseconds_if_any));
  }
  return found;
}

}  // namespace looptask::schedule
