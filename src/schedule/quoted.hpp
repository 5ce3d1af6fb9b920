#pragma once
// What a user typed, made fit for a one-line error message: in double quotes, bytes that are not printable ASCII as \xNN, long
// text cut. Pure, any thread.
//
//   quoted("a\nb")  // "a\x0Ab", with the quotes
#include <string>
#include <string_view>

namespace looptask::schedule {

inline std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  if (text.size() > longest) out += "...";
  return out + '"';
}

}  // namespace looptask::schedule
