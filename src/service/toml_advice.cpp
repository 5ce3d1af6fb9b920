#include "service/toml_advice.hpp"

#include <vector>

#include "base/printable.hpp"

namespace looptask::service {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) + 1 - begin);
}

// The first `count` lines, without comments and blanks at their ends.
std::vector<std::string_view> lines_of(std::string_view text, int count) {
  std::vector<std::string_view> lines;
  for (int i = 0; i < count; ++i) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    lines.push_back(trimmed(line.substr(0, line.find('#'))));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

struct pair_of_words {
  std::string_view key, value;
};

pair_of_words split(std::string_view line) {
  const auto sign = line.find('=');
  if (sign == std::string_view::npos) return {line, {}};
  return {trimmed(line.substr(0, sign)), trimmed(line.substr(sign + 1))};
}

bool looks_like_a_number(std::string_view value) {
  return value.find_first_not_of("0123456789._+-eE") == std::string_view::npos;
}

bool looks_like_a_date(std::string_view value) {
  return value.size() > 4 && value.find_first_not_of("0123456789") == 4 && value[4] == '-';
}

}  // namespace

std::optional<std::string> quotes_needed(std::string_view text, position at) {
  const auto lines = lines_of(text, at.line);
  const auto [key, value] = split(lines.back());
  if (key.empty() || value.empty() || value.find_first_of("\"'[]{}") != std::string_view::npos) return std::nullopt;
  if (looks_like_a_number(value) || looks_like_a_date(value)) return std::nullopt;
  return std::string(key) + " = " + in_quotes(value);
}

std::optional<int> first_definition(std::string_view text, position at) {
  const auto lines = lines_of(text, at.line);
  const std::string_view wanted = lines.back();
  const bool is_table = !wanted.empty() && wanted.front() == '[';
  std::optional<int> found;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (!is_table && !lines[i].empty() && lines[i].front() == '[') found.reset();  // keys of another table
    const bool same = is_table ? lines[i] == wanted : split(lines[i]).key == split(wanted).key;
    if (same && !found) found = static_cast<int>(i) + 1;
  }
  return found;
}

}  // namespace looptask::service
