#include "base/printable.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace looptask {
namespace {

bool is_control(char32_t c) noexcept {
  const auto between = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return c < 0x20 || between(0x7F, 0x9F) || c == 0x061C || between(0x200E, 0x200F) || between(0x2028, 0x202E) ||
         between(0x2066, 0x2069);
}

void add_hex(std::string& out, char32_t value, unsigned digits) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  for (unsigned shift = 4 * digits; shift > 0; shift -= 4) out += hex[value >> (shift - 4) & 0xFU];
}

// Takes the first character, or byte that is none, off `text`. `special` ones get a '\' in front.
void add_first(std::string& out, std::string_view& text, std::string_view special) {
  const utf8_character c = first_character(text);
  if (c.bytes == 0) {
    out += "\\x";
    add_hex(out, static_cast<unsigned char>(text[0]), 2);
  } else if (c.code == '\n') {
    out += "\\n";
  } else if (c.code == '\t') {
    out += "\\t";
  } else if (is_control(c.code)) {
    out += "\\u";
    add_hex(out, c.code, 4);
  } else {
    if (c.bytes == 1 && special.find(text[0]) != std::string_view::npos) out += '\\';
    out += text.substr(0, c.bytes);
  }
  text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
}

}  // namespace

std::string printable(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  while (!line.empty()) add_first(out, line, "");
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  constexpr std::size_t longest_escaped = 160;  // what is all control characters grows sixfold
  std::string_view left = text;
  std::string out = "\"";
  while (!left.empty()) {
    const std::size_t next = text.size() - left.size() + std::max<std::size_t>(1, first_character(left).bytes);
    if (next > longest || out.size() > longest_escaped) return out + "...\"";
    add_first(out, left, "\"\\");
  }
  return out + '"';
}

}  // namespace looptask
