#pragma once
// A page of the manual as tests read it.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "source_tree.hpp"

namespace looptask::manual {

inline std::string page(const std::string& path) {
  std::ifstream file(tests::source_dir() + "/" + path, std::ios::binary);
  if (!file) throw std::runtime_error("no page " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The part below this heading, up to the next heading of any depth.
inline std::string section(const std::string& text, const std::string& heading) {
  const auto at = text.find("\n" + heading + "\n");
  if (at == std::string::npos) throw std::runtime_error("no heading " + heading);
  const auto from = at + heading.size() + 2;
  return text.substr(from, text.find("\n#", from) - from);
}

// The words in backticks.
inline std::set<std::string> quoted(const std::string& text) {
  static const std::regex word("`([^`\n]+)`");
  std::set<std::string> words;
  for (std::sregex_iterator each(text.begin(), text.end(), word), end; each != end; ++each) words.insert((*each)[1]);
  return words;
}

// A line of a table: its first column, and the rest.
struct row {
  std::string first, rest;
};

inline std::vector<row> rows(const std::string& text) {
  std::vector<row> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto end = line.find(" | ", 2);
    if (line.starts_with("| `") && end != std::string::npos) found.push_back({line.substr(2, end - 2), line.substr(end)});
  }
  return found;
}

// The names in the first columns; of these rows those in the rest as well.
inline std::set<std::string> fields(const std::string& text, const std::set<std::string>& with_rest = {}) {
  std::set<std::string> names;
  for (const row& each : rows(text)) {
    const auto first = quoted(each.first);
    names.insert(first.begin(), first.end());
    if (std::none_of(first.begin(), first.end(), [&](const std::string& name) { return with_rest.contains(name); })) continue;
    names.merge(quoted(each.rest));
  }
  return names;
}

}  // namespace looptask::manual
