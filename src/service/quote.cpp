#include "service/quote.hpp"

namespace looptask::service {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  bool cut = false;
  if (text.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end);
    cut = true;
  }
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      constexpr std::string_view hex = "0123456789ABCDEF";
      out += "\\u00";
      out += hex[byte >> 4U];
      out += hex[byte & 0xFU];
    } else {
      out += c;
    }
  }
  return out + (cut ? "...\"" : "\"");
}

std::string key_part(std::string_view name) {
  bool bare = !name.empty();
  for (const char c : name)
    bare = bare && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-');
  return bare ? std::string(name) : in_quotes(name);
}

}  // namespace looptask::service
